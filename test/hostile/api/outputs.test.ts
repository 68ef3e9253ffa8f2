import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JournalEntry } from '../../../src/emulator/http/journal.ts'
import type { KubeObject } from '../../../src/kube/types.ts'
import { sshKeys } from '../../builders/contract/ssh-keys.ts'
import { unfitCertificates, unfitKeys, unfitTokens } from '../../builders/unfit-answers.ts'
import { until } from '../../cluster/support/wait.ts'
import { conditionOf, core, type Resource } from '../../cluster/support/world.ts'
import { LyingWorld } from '../support/lying-world.ts'

/*
 * The API answers creates with arbitrary values instead of a token, a certificate or a key: Culvert would write them
 * into a Secret or ConfigMap of the tenant's choice, which a workload uses as its configuration.
 */

interface Case {
  readonly kind: string
  readonly path: string
  readonly name: string
  readonly what: string
  readonly spec: Readonly<Record<string, unknown>>
  /** Secret or ConfigMap, and the keys that must not be written. */
  readonly place: 'Secret' | 'ConfigMap'
  readonly lie: Readonly<Record<string, unknown>>
}

const KINDS = {
  APIKey: { path: 'api_keys', field: 'token', values: unfitTokens, place: 'Secret', spec: () => ({}) },
  TunnelCredential: { path: 'credentials', field: 'token', values: unfitTokens, place: 'Secret', spec: () => ({}) },
  SSHUserCertificate: {
    path: 'ssh_user_certificates',
    field: 'certificate',
    values: unfitCertificates,
    place: 'Secret',
    spec: (name: string) => ({ ...signed, principals: ['alice'], output: { secret: { name } } }),
  },
  SSHHostCertificate: {
    path: 'ssh_host_certificates',
    field: 'certificate',
    values: unfitCertificates,
    place: 'ConfigMap',
    spec: (name: string) => ({ ...signed, principals: ['a.example.com'], output: { configMap: { name } } }),
  },
  SSHCertificateAuthority: {
    path: 'ssh_certificate_authorities',
    field: 'public_key',
    values: unfitKeys,
    place: 'ConfigMap',
    spec: (name: string) => ({ output: { configMap: { name } } }),
  },
} as const
const signed = { sshCertificateAuthorityRef: { name: 'signer' }, publicKey: sshKeys.ed25519 }

const cases: readonly Case[] = Object.entries(KINDS).flatMap(([kind, { path, field, values, place, spec }]) => {
  return values.map(([what, value], index) => {
    const name = `${kind.toLowerCase()}-${index}`
    const own = { ...spec(name), description: name }
    return { kind, path, name, what: `a ${field} that is ${what}`, spec: own, place, lie: { [field]: value } }
  })
})

const edited = (name: string): string => `${name}, edited`

let lying: LyingWorld
const lies = new Map(cases.flatMap(({ name, lie }) => [[name, lie] as const, [edited(name), lie] as const]))
beforeAll(async () => {
  lying = await LyingWorld.open()
  lying.lie = ({ description }) => lies.get(String(description)) ?? {}
  await lying.world.apply('SSHCertificateAuthority', 'signer', {})
  await lying.world.ready('SSHCertificateAuthority', 'signer')
  for (const { kind, name, spec } of cases) await lying.world.apply(kind, name, spec)
}, 300_000)
afterAll(() => lying[Symbol.asyncDispose]())

interface Holder extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

function held(place: Case['place'], name: string): Promise<Holder | undefined> {
  const type = place === 'Secret' ? core('secrets', 'Secret') : core('configmaps', 'ConfigMap')
  return lying.world.kube.get<Holder>(type, { namespace: lying.world.namespace, name })
}

/** The creates of a case's object, with its description or the edited one. */
function creates({ path, name }: Case): readonly JournalEntry[] {
  return lying.world.writes().filter(({ method, path: at, body }) => {
    const { description } = (body ?? {}) as { readonly description?: unknown }
    return method === 'POST' && at === `/${path}` && (description === name || description === edited(name))
  })
}

/** How many deletions of that object arrived. */
function deletions({ path }: Case, id: string | null): number {
  return lying.world.writes().filter(({ method, path: at }) => method === 'DELETE' && at === `/${path}/${id}`).length
}

test.each(cases)('$kind: $what is written nowhere, and the object is deleted', async ({ kind, path, name, place }) => {
  const { message } = await lying.world.reason(kind, name, 'Synced', 'AnswerRefused', 90_000)
  expect(message).toContain('the API answered a create with')
  expect(conditionOf(await lying.world.get(kind, name), 'Ready')?.status).toBe('False')
  expect((await held(place, name))?.data ?? {}).toEqual({})
  expect((await lying.world.remote(path)).filter(({ description }) => description === name)).toEqual([])
  // Events are sent asynchronously.
  await until('an Event tells of it', async () => {
    return (await lying.world.events(kind, name)).some(({ reason }) => reason === 'AnswerRefused')
  })
})

// That edits and requests cause no further create is shown in virtual time: scenarios/refused-answers.
test('each object that was answered so gets one deletion, also after edits and requests', async () => {
  for (const { kind, name } of cases) await lying.world.reason(kind, name, 'Synced', 'AnswerRefused', 90_000)
  const annotations = { 'culvert.dev/reconcile-requested-at': 'now' }
  for (const { kind, name, spec } of cases) {
    await lying.world.apply(kind, name, { ...spec, description: edited(name) }, { annotations })
  }
  for (const { kind, name } of cases) {
    const handled = ({ metadata, status }: Resource): boolean => {
      return status?.lastHandledReconcileAt === 'now' && status.observedGeneration === metadata.generation
    }
    await lying.world.until(kind, name, 'was looked at', handled, 90_000)
  }
  for (const each of cases) {
    const made = creates(each)
    expect(made.length, each.name).toBeGreaterThanOrEqual(1)
    for (const { responseId } of made) {
      await until('the object is deleted', () => deletions(each, responseId) > 0)
      expect(deletions(each, responseId), each.name).toBe(1)
    }
  }
})

describe('a token in its Secret', () => {
  test.each(['APIKey', 'TunnelCredential'])(
    'of the kind %s stays, with its object, when the next one is unusable',
    async (kind) => {
      const name = `rotated-${kind.toLowerCase()}`
      const { path } = KINDS[kind as 'APIKey']
      await lying.world.apply(kind, name, { description: name })
      const { status } = await lying.world.ready(kind, name)
      const before = await held('Secret', name)
      lies.set(name, { token: 'listen = 0.0.0.0\nauth = off' })
      await lying.world.annotate(kind, name, { 'culvert.dev/rotate-requested-at': 'now' })
      const { message } = await lying.world.reason(kind, name, 'Rotated', 'RotationFailing', 60_000)
      expect(message).toContain('a token that is not')
      expect((await held('Secret', name))?.data).toEqual(before?.data)
      const left = (await lying.world.remote(path)).filter(({ description }) => description === name)
      expect(left.map(({ id }) => id)).toEqual([status?.id])
      expect(conditionOf(await lying.world.get(kind, name), 'Ready')?.status).toBe('True')
    },
  )
})

test('the public key in a ConfigMap stays when the API later returns another text', async () => {
  const name = 'published'
  await lying.world.apply('SSHCertificateAuthority', name, { description: name, output: { configMap: { name } } })
  await lying.world.ready('SSHCertificateAuthority', name)
  const before = await held('ConfigMap', name)
  expect(before?.data?.['ca.pub']).toMatch(/^ssh-ed25519 /)
  for (const value of ['two\nlines', null, 'command="sh" ssh-ed25519 AAAA']) {
    lies.set(name, { public_key: value })
    await lying.world.resync()
    await lying.world.reason('SSHCertificateAuthority', name, 'Synced', 'AnswerRefused', 60_000)
    expect(await held('ConfigMap', name)).toEqual(before)
    lies.delete(name)
    await lying.world.resync()
    await lying.world.ready('SSHCertificateAuthority', name)
  }
  expect(await held('ConfigMap', name)).toEqual(before)
})
