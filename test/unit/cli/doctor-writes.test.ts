import { describe, expect, test } from 'vitest'
import { findingsOf } from '../../../src/cli/doctor/checks/writes.ts'
import { deployedOperator } from '../../../src/cli/doctor/writes/deployed-operator.ts'
import { DryRun, type FailedWrite } from '../../../src/cli/doctor/writes/dry-run.ts'
import { secretType } from '../../../src/kube/core-types.ts'
import { KubeError, type KubeErrorCode } from '../../../src/kube/kube-error.ts'
import { REFUSED_FIELDS } from '../../../src/kube/refused-fields.ts'

const WHERE = { namespace: 'culvert-system', name: 'culvert' }

function deployment(args: readonly string[]) {
  const template = { spec: { serviceAccountName: 'runner', containers: [{ args }] } }
  const metadata = { name: 'any', uid: 'u', resourceVersion: '1' }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { template } }
}

describe('a deployed operator', () => {
  test('is found by its name, with what its flags have it write', () => {
    const args = ['operator', '--name=culvert', '--watch-namespace=a', '--watch-namespace', 'b', '--hold-namespaces']
    const more = ['--tunnels', '--agent-image=agent:1', '--allow-ssh-gateway=*.example.com:22', '--services']
    const dns = ['--dns-endpoints', '--dns-domains=a.example,*.b.example']
    const others = [deployment(['emulator']), deployment(['operator', '--name=green'])]
    expect(deployedOperator([...others, deployment([...args, ...more, ...dns])], WHERE)).toEqual({
      ...WHERE,
      serviceAccount: 'runner',
      watched: ['a', 'b'],
      holdsNamespaces: true,
      dnsDomains: ['a.example', '*.b.example'],
      agents: { image: 'agent:1', gateways: ['*.example.com:22'] },
      services: { unclassed: false },
    })
    expect(deployedOperator(others, WHERE)).toBeUndefined()
  })

  test('without flags watches everything, and runs no agents', () => {
    expect(deployedOperator([deployment(['operator'])], WHERE)).toMatchObject({
      watched: [],
      holdsNamespaces: false,
      dnsDomains: [],
      agents: undefined,
      services: undefined,
    })
  })
})

const failure = (code: KubeErrorCode, message: string, resource = 'secrets', body: object = {}): FailedWrite => {
  return { write: { resource, body }, error: new KubeError(code, message) }
}
const denied = (words: string): string =>
  `x is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: ${words}`

describe('what the API server refuses', () => {
  test('is one finding for all that webhooks add, and one for what Culvert sends', () => {
    const found = findingsOf(
      [
        failure('Forbidden', denied(`${REFUSED_FIELDS}secrets.metadata.labels.a`)),
        failure('Forbidden', denied(`${REFUSED_FIELDS}leases.metadata.labels, leases.spec`), 'leases', { spec: {} }),
      ],
      'it',
    )
    expect(found).toMatchObject([
      { severity: 'error', cause: /of leases$/, remedy: /^Culvert itself sent leases\.spec: update the policy/ },
      { severity: 'error', cause: /secrets, leases/, remedy: /added secrets\.metadata\.labels\.a, leases\.metadata/ },
    ])
  })

  test.for<[KubeErrorCode, string, object | undefined]>([
    ['AlreadyExists', 'it exists', undefined],
    ['NotFound', 'the type is not installed', undefined],
    [
      'Forbidden',
      denied('the operator of Culvert writes no outputs into protected namespaces'),
      { severity: 'unchecked' },
    ],
    ['Forbidden', denied('the operator of Culvert never does CREATE pods'), { remedy: /Update the policy/ }],
    ['Forbidden', 'User "x" cannot create resource "secrets"', { severity: 'error', remedy: /roles/ }],
    ['Forbidden', 'exceeded quota', { severity: 'error', remedy: /quota/ }],
    ['Timeout', 'no answer', { severity: 'unchecked' }],
  ])('for %s: %s', ([code, message, expected]) => {
    expect(findingsOf([failure(code, message)], 'it')).toMatchObject(expected === undefined ? [] : [expected])
  })
})

describe('a dry run', () => {
  test('stores nothing, and goes on after what is refused', async () => {
    const options: unknown[] = []
    const dry = new DryRun({
      create: (...[, , , option]) => {
        options.push(option)
        return Promise.reject(new KubeError('Forbidden', 'no'))
      },
      mergePatch: () => Promise.reject(new Error('unused')),
    })
    const body = { data: {} }
    expect(await dry.create(secretType, { namespace: 'a', name: 'b' }, body)).toEqual(body)
    expect(options).toEqual([{ dryRun: true }])
    expect(dry.failures).toMatchObject([{ write: { resource: 'secrets', body }, error: { code: 'Forbidden' } }])
  })

  test('ends at once for a caller who may not impersonate the operator', async () => {
    const error = new KubeError('Forbidden', 'User "x" cannot impersonate resource "serviceaccounts"')
    const refuse = () => Promise.reject(error)
    const dry = new DryRun({ create: refuse, mergePatch: refuse })
    await expect(dry.create(secretType, { namespace: 'a', name: 'b' }, {})).rejects.toBe(error)
  })
})
