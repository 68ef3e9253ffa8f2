import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { KubeObject } from '../../../src/kube/types.ts'
import { SALT_SECRET } from '../../../src/managed/inputs/salt.ts'
import { AuditLog } from '../../cluster/support/audit-log.ts'
import { OperatorAccount } from '../../cluster/support/operator-account.ts'
import { OperatorProcess } from '../../cluster/support/operator-process.ts'
import { openedBy, secrets, tokenOf } from '../../cluster/support/tokens.ts'
import { until } from '../../cluster/support/wait.ts'
import { type Resource, World } from '../../cluster/support/world.ts'
import { notesOf, putSalt, saltKey } from '../support/salt.ts'

const monitor = { type: 'Monitor', monitor: { apiKeySecretRef: { name: 'inputs', key: 'pin' } } }
/** Resources whose status records something derived from a secret. */
const NOTING = [
  ['EventDestination', 'events'],
  ['APIKey', 'ci'],
  ['TunnelCredential', 'agent'],
  ['Account', 'default'],
] as const

const roleBindings = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
}

/** A world with every sort of fingerprint, at rest, with its operator stopped. */
async function atRest(): Promise<World> {
  const world = await World.open()
  await world.secret('inputs', { pin: 'first-value' })
  await world.apply('EventDestination', 'events', monitor)
  await world.apply('APIKey', 'ci', {})
  await world.apply('TunnelCredential', 'agent', {})
  await world.apply('Backend', 'raw', { type: 'TunnelGroup', tunnelGroup: {}, rawMetadata: 'my own' })
  for (const [kind, name] of [...NOTING, ['Backend', 'raw'] as const]) await world.ready(kind, name)
  await world.resync()
  await world.operator.stop()
  return world
}

/** Versions of all Secrets of the world's namespace. */
async function versions(world: World): Promise<readonly string[]> {
  const { items } = await world.kube.list<KubeObject>(secrets, { namespace: world.namespace })
  return items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
}

const LOSSES: readonly {
  readonly title: string
  readonly writes: readonly string[]
  lose(world: World): Promise<unknown>
  readonly tags: string[]
}[] = [
  {
    title: 'deleted',
    writes: ['create'],
    lose: (world) => world.kube.delete(secrets, saltKey(world)),
    tags: [],
  },
  {
    title: 'replaced by another',
    writes: [],
    lose: (world) => putSalt(world, randomBytes(32)),
    tags: ['nightly'],
  },
  {
    title: 'made useless',
    writes: ['delete', 'create'],
    lose: (world) => putSalt(world, Buffer.alloc(0)),
    tags: ['nightly'],
  },
]

for (const { title, writes, lose, tags } of LOSSES) {
  test(`a salt that was ${title} sends nothing: each unknown fingerprint is stored again, once`, {
    timeout: 120_000,
    tags,
  }, async () => {
    await using world = await atRest()
    const [before, kept] = [await notesOf(world, NOTING), await versions(world)]
    expect(before).toHaveLength(NOTING.length)
    const raw = await world.get('Backend', 'raw')
    await lose(world)
    const audit = AuditLog.ofSuite()
    const [mark, auditMark] = [world.mark(), await audit.mark()]
    await world.startOperator()
    await until('all is noted again', async () => {
      const now = await notesOf(world, NOTING)
      return now.length === NOTING.length && now.every((note) => !before.includes(note))
    })
    await world.resync()
    expect(world.writes(mark)).toEqual([])
    // It does not write more than that to Kubernetes either.
    expect(await versions(world)).toEqual(kept)
    expect((await world.get('Backend', 'raw'))?.metadata.resourceVersion).toBe(raw?.metadata.resourceVersion)
    const written = (await audit.operatorWrites([world.namespace, world.operatorNamespace], auditMark)).map(
      ({ verb, resource, subresource }) => [verb, resource, subresource].filter(Boolean).join(' '),
    )
    expect(written.toSorted()).toEqual(
      [
        // The second is the answer to the requested resync.
        'patch accounts status',
        'patch accounts status',
        'patch apikeys status',
        'patch eventdestinations status',
        'patch tunnelcredentials status',
        ...writes.map((verb) => `${verb} secrets`),
      ].toSorted(),
    )
    for (const kind of ['APIKey', 'TunnelCredential'] as const) {
      const cr = (await world.list(kind))[0] as Resource
      expect(await openedBy(world, kind, await tokenOf(world, cr))).toBe(cr.status?.id)
    }

    // From then on changes of an input are noticed, and alterations of a token.
    const later = world.mark()
    await world.secret('inputs', { pin: 'second-value' })
    await until('the new value is at the API', () =>
      JSON.stringify(world.emulator.admin.snapshot()).includes('second-'),
    )
    await world.resync()
    expect(world.writes(later).map(({ method, path }) => `${method} ${path.split('/')[1]}`)).toEqual([
      'PATCH event_destinations',
    ])
    const former = await world.get('TunnelCredential', 'agent')
    const data = { token: Buffer.from('altered').toString('base64') }
    await world.kube.mergePatch(secrets, { namespace: world.namespace, name: 'agent' }, { data })
    await world.until(
      'TunnelCredential',
      'agent',
      'has another token',
      ({ status }) => status?.id !== former?.status?.id,
    )
  })
}

test('a salt that is deleted under a running operator has no effect until the next one leads', {
  tags: 'nightly',
}, async () => {
  await using world = await atRest()
  await world.startOperator()
  await world.resync()
  const before = await notesOf(world, NOTING)
  await world.kube.delete(secrets, saltKey(world))
  const mark = world.mark()
  await world.secret('inputs', { pin: 'second-value' })
  await until('the new value is at the API', () => JSON.stringify(world.emulator.admin.snapshot()).includes('second-'))
  await world.resync()
  expect(world.writes(mark)).toHaveLength(1)
  expect((await notesOf(world, NOTING)).filter((note) => before.includes(note))).toHaveLength(NOTING.length - 1)
})

test('an input that changes while the salt is lost is not sent; its next change is', {
  timeout: 120_000,
}, async () => {
  await using world = await atRest()
  const before = await notesOf(world, NOTING)
  await world.kube.delete(secrets, saltKey(world))
  await world.secret('inputs', { pin: 'second-value' })
  const mark = world.mark()
  await world.startOperator()
  await until('all is noted again', async () => (await notesOf(world, NOTING)).every((note) => !before.includes(note)))
  await world.resync()
  expect(world.writes(mark)).toEqual([])
  await world.secret('inputs', { pin: 'third-value' })
  await until('the new value is at the API', () => JSON.stringify(world.emulator.admin.snapshot()).includes('third-'))
})

test('an input of a changed spec is sent even though its old value is unknown', { tags: 'nightly' }, async () => {
  await using world = await atRest()
  await world.kube.delete(secrets, saltKey(world))
  await world.secret('others', { pin: 'other-value' })
  const mark = world.mark()
  const named = { type: 'Monitor', monitor: { apiKeySecretRef: { name: 'others', key: 'pin' } } }
  await world.apply('EventDestination', 'events', named)
  await world.startOperator()
  await until('the value is at the API', () => JSON.stringify(world.emulator.admin.snapshot()).includes('other-value'))
  await world.ready('EventDestination', 'events')
  await world.resync()
  expect(world.writes(mark)).toHaveLength(1)
})

test('an operator that may not create the Secret reports it and does nothing without a salt', {
  tags: 'nightly',
}, async () => {
  await using world = await atRest()
  await world.kube.delete(secrets, saltKey(world))
  const { kube, kubeconfig, namespace, operatorNamespace } = world
  // With another name, because a refusal of the suite's own account would be an error of the suite.
  const name = 'unsalted'
  const watched = [namespace]
  await using account = await OperatorAccount.create({ kube, kubeconfig, namespace: operatorNamespace, watched, name })
  await kube.delete(roleBindings, { namespace: operatorNamespace, name: `${name}-own` })
  const mark = world.mark()
  const started = OperatorProcess.start({
    kubeconfig: account.kubeconfigFor(kubeconfig),
    namespace: operatorNamespace,
    flags: ['--watch-namespace', namespace, '--allow-api-host', new URL(world.emulator.url).host],
  })
  await expect(started).rejects.toThrow(`Secret ${operatorNamespace}/${SALT_SECRET} contains the salt`)
  expect(world.journal(mark)).toEqual([])
})
