import { describe, expect, test } from 'vitest'
import { backend } from '../../../src/kinds/backend.ts'
import { type BotUserSpec, botUser } from '../../../src/kinds/bot-user.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { sshHostCertificate } from '../../../src/kinds/ssh-host-certificate.ts'
import { sshUserCertificate } from '../../../src/kinds/ssh-user-certificate.ts'
import { plan, planCreate } from '../../../src/managed/plan/plan.ts'
import { sshKeys } from '../../builders/contract/ssh-keys.ts'
import { stored } from '../../builders/kinds/api-model.ts'
import { desiredOf } from '../../builders/kinds/desired.ts'

const context = { markedMetadata: 'marker', inputsChanged: false }

describe('a null in a map of texts is the empty text', () => {
  test('of a certificate’s extensions', () => {
    const spec = { sshCertificateAuthorityRef: { id: 'sshca_1' }, publicKey: sshKeys.ed25519, principals: ['alice'] }
    const desired = { ...desiredOf({ spec }), now: Date.parse('2030-01-01T00:00:00Z') }
    const remote = {
      ...stored(planCreate(sshUserCertificate, desired, 'marker')),
      extensions: { 'permit-pty': null, 'permit-user-rc': '' },
    }
    expect(plan(sshUserCertificate, desired, { remote, children: [] }, context)).toEqual([])
  })

  test('of labels and headers', () => {
    expect(backend.fields.observe({ id: 'x', labels: { app: null } })).toMatchObject({ labels: { app: '' } })
    expect(backend.fields.observe({ id: 'x', headers: { 'X-A': null } })).toMatchObject({ headers: { 'x-a': '' } })
  })
})

test('principals of a host are no others in upper case', () => {
  const spec = {
    sshCertificateAuthorityRef: { id: 'sshca_1' },
    publicKey: sshKeys.ed25519,
    principals: ['a.example.com'],
  }
  const desired = { ...desiredOf({ spec }), now: Date.parse('2030-01-01T00:00:00Z') }
  const remote = {
    ...stored(planCreate(sshHostCertificate, desired, 'marker')),
    principals: ['A.EXAMPLE.COM'],
  }
  expect(plan(sshHostCertificate, desired, { remote, children: [] }, context)).toEqual([])
})

test('the name of a bot that the service has trimmed is not sent again; any other is', () => {
  const desired = desiredOf<BotUserSpec>({ spec: { displayName: ' deployer ' } })
  const left = (name: string) =>
    plan(botUser, desired, { remote: stored({ name, active: true }), children: [] }, context)
  expect(left('deployer')).toEqual([])
  expect(left('other')).toMatchObject([{ body: { name: ' deployer ' } }])
})

describe('the short table', () => {
  const shortOf = (kind: string) => {
    const { definition } = kinds.find((each) => each.definition.kind === kind) ?? { definition: { printerColumns: [] } }
    return definition.printerColumns.filter(({ priority = 0 }) => priority === 0)
  }

  test('of subscriptions names a type of events', () => {
    expect(shortOf('EventSubscription')[0]?.jsonPath).toBe('.spec.sources[0].type')
  })

  test('of rules names the policy also where the spec sets it by id', () => {
    const column = shortOf('IPPolicyRule').find(({ name }) => name === 'Policy')
    expect(column?.jsonPath).toBe(".spec.ipPolicyRef['name','id']")
  })
})
