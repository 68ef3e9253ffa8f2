import { isDeepStrictEqual } from 'node:util'
import { expect, inject, test } from 'vitest'
import type { KubeObject } from '../../src/kube/types.ts'
import { KubeProxy } from '../builders/kube-proxy.ts'
import { tokenPlaceIn } from '../builders/output-of-spec.ts'
import { AuditLog } from './support/audit-log.ts'
import { applyNeeds, casesTitled, managed, subjectsOf } from './support/cases.ts'
import { expectLiveTokens, hasToken, openedBy, secretNamed, secrets, tokenOf } from './support/tokens.ts'
import { traces } from './support/traces.ts'
import { until } from './support/wait.ts'
import { type Resource, World } from './support/world.ts'

const tokenKinds = managed.filter(hasToken)
const kindNames = tokenKinds.map(({ definition }) => definition.kind)
const cases = [...casesTitled('minimal'), ...casesTitled('full')].filter(({ kind }) => kindNames.includes(kind))
const paths = ['/api_keys', '/credentials']

/** Tokens look like this at the emulator; in base64 too. */
const TOKENS = /tk_[0-9a-f]{40,}|dGtf[A-Za-z0-9+/]{40,}/

function creates(world: World, since = 0): number {
  return world.writes(since).filter(({ method, path }) => method === 'POST' && paths.includes(path)).length
}

/** Patches a Secret of the world, as somebody with `kubectl edit` would. */
async function edit(world: World, name: string, patch: Record<string, unknown>): Promise<void> {
  await world.kube.mergePatch(secrets, { namespace: world.namespace, name }, patch)
}

/** Waits until the CR is Ready with another object than `former`, which is gone. */
async function reissued(world: World, kind: string, path: string, former: unknown, name = 'ci'): Promise<Resource> {
  await world.until(kind, name, 'has another object', ({ status }) => status?.id !== undefined && status.id !== former)
  await until('the former object is gone', async () => {
    return (await world.remote(path)).every(({ id }) => id !== former)
  })
  return world.ready(kind, name)
}

test('a foreign Secret is refused before anything is created, and is left alone', async () => {
  await using world = await World.open()
  await world.secret('ci', { keep: 'mine', token: 'of another' })
  const before = await secretNamed(world, 'ci')
  await world.apply('APIKey', 'ci', {})
  await world.apply('TunnelCredential', 'ci', {})
  for (const kind of kindNames) {
    const { message } = await world.reason(kind, 'ci', 'Ready', 'OutputNotOwned')
    expect(message).toContain('Secret ci')
    expect(message).toContain('spec.output.secret.name')
  }
  await world.resync()
  expect(creates(world)).toBe(0)
  expect(await secretNamed(world, 'ci')).toEqual(before)

  // Either remedy helps; then the other resource is refused the Secret that is now the first one's.
  await world.apply('TunnelCredential', 'ci', { output: { secret: { name: 'ci-agent' } } })
  await world.ready('TunnelCredential', 'ci')
  await world.kube.delete(secrets, { namespace: world.namespace, name: 'ci' })
  await world.ready('APIKey', 'ci')
  await world.apply('TunnelCredential', 'copy', { output: { secret: { name: 'ci' } } })
  expect((await world.reason('TunnelCredential', 'copy', 'Ready', 'OutputNotOwned')).message).toContain('APIKey/ci')
  await world.delete('TunnelCredential', 'copy')
  await world.gone('TunnelCredential', 'copy')
  for (const descriptor of tokenKinds) await expectLiveTokens(world, descriptor)
  expect(creates(world)).toBe(2)
})

test('if the operator may not write Secrets, a condition names the Secret and nothing is created', async () => {
  await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
  await using world = await World.open({ flags: ['--kubeconfig', proxy.kubeconfigPath] })
  const path = `/api/v1/namespaces/${world.namespace}/secrets`
  for (const method of ['POST', 'PATCH']) {
    const forbidden = proxy.intercept((request) => {
      return request.method === method && request.path.startsWith(path)
        ? { type: 'answer', status: 403, reason: 'Forbidden' }
        : undefined
    })
    const name = `no-${method.toLowerCase()}`
    await world.apply('APIKey', name, {})
    const { message } = await world.reason('APIKey', name, 'Ready', 'KubernetesError')
    expect(message).toContain(`Secret ${name}`)
    expect(creates(world)).toBe(0)
    forbidden.remove()
    await world.delete('APIKey', name)
    await world.gone('APIKey', name)
  }
})

for (const [kind, path, ...tags] of [
  ['APIKey', 'api_keys'],
  ['TunnelCredential', 'credentials', 'nightly'],
] as const) {
  test(`a lost or altered token of a ${kind} is reissued once, and other keys of the Secret stay`, {
    tags,
  }, async () => {
    await using world = await World.open()
    await world.apply(kind, 'ci', {})
    const first = await world.ready(kind, 'ci')
    const token = await tokenOf(world, first)
    await world.kube.delete(secrets, { namespace: world.namespace, name: 'ci' })
    const second = await reissued(world, kind, path, first.status?.id)
    expect(await openedBy(world, kind, await tokenOf(world, second))).toBe(second.status?.id)
    expect(await openedBy(world, kind, token)).toBeUndefined()
    expect((await world.events(kind, 'ci')).map(({ reason }) => reason)).toContain('Reissued')

    // Another process has no memory of the first time: it issues at once.
    await world.operator.stop()
    await edit(world, 'ci', { data: { token: btoa('altered'), keep: btoa('mine') } })
    await world.startOperator()
    const third = await reissued(world, kind, path, second.status?.id)
    expect(await openedBy(world, kind, await tokenOf(world, third))).toBe(third.status?.id)
    expect((await secretNamed(world, 'ci'))?.data?.keep).toBe(btoa('mine'))
    expect(creates(world)).toBe(3)

    // Whatever goes on altering it gets no more tokens for now.
    await edit(world, 'ci', { data: { token: btoa('altered again') } })
    const { message } = await world.reason(kind, 'ci', 'Synced', 'TokenAltered')
    expect(message).toContain('key token of Secret ci was altered')
    expect(creates(world)).toBe(3)
  })
}

test('a Secret carries the labels and annotations of the spec: a change is one write without a new token, and those of others stay', {
  tags: 'nightly',
}, async () => {
  await using world = await World.open()
  const audit = AuditLog.ofSuite()
  const spec = (labels: object, annotations: object = {}) => ({ output: { secret: { labels, annotations } } })
  const metadata = async () => (await secretNamed(world, 'ci'))?.metadata
  const managed = { 'app.kubernetes.io/managed-by': 'culvert' }
  const bears = (labels: object) =>
    until(`the Secret bears ${JSON.stringify(labels)}`, async () => {
      return isDeepStrictEqual((await metadata())?.labels, { ...managed, ...labels })
    })
  await world.apply('APIKey', 'ci', spec({ team: 'edge' }, { 'example.com/reflect': 'true' }))
  const { status } = await world.ready('APIKey', 'ci')
  await bears({ team: 'edge' })
  expect((await metadata())?.annotations).toHaveProperty(['example.com/reflect'], 'true')
  await edit(world, 'ci', { metadata: { labels: { theirs: 'x' }, annotations: { 'example.com/theirs': 'x' } } })
  await world.resync()
  const mark = await audit.mark()
  await world.apply('APIKey', 'ci', spec({ tier: 'public' }))
  await bears({ theirs: 'x', tier: 'public' })
  await world.ready('APIKey', 'ci')
  await world.resync()
  const writes = (await audit.operatorWrites([world.namespace], mark)).filter(({ resource }) => resource === 'secrets')
  expect(writes.map(({ verb }) => verb)).toEqual(['patch'])
  const { annotations } = (await metadata()) ?? {}
  expect(annotations).not.toHaveProperty(['example.com/reflect'])
  expect(annotations).toHaveProperty(['example.com/theirs'], 'x')
  await edit(world, 'ci', { metadata: { labels: { tier: 'altered' } } })
  await bears({ theirs: 'x', tier: 'public' })
  await world.apply('APIKey', 'ci', spec({ 'a.culvert.dev/b': 'x' }))
  const { message } = await world.reason('APIKey', 'ci', 'Synced', 'InvalidSpec')
  expect(message).toContain('spec.output.secret.labels: "a.culvert.dev/b" is under culvert.dev')
  await world.apply('APIKey', 'ci', { deletionPolicy: 'Delete' })
  await bears({ theirs: 'x' })
  expect((await world.ready('APIKey', 'ci')).status?.id).toBe(status?.id)
  expect(creates(world)).toBe(1)
})

test('another name or key moves the token and leaves nothing behind', async () => {
  await using world = await World.open()
  await world.apply('APIKey', 'ci', {})
  const { status } = await world.ready('APIKey', 'ci')
  const mark = world.mark()
  await edit(world, 'ci', { data: { keep: btoa('mine') } })
  await world.apply('APIKey', 'ci', { output: { secret: { key: 'api-key' } } })
  const moved = await world.ready('APIKey', 'ci')
  expect(await openedBy(world, 'APIKey', await tokenOf(world, moved))).toBe(status?.id)
  expect(new Set(Object.keys((await secretNamed(world, 'ci'))?.data ?? {}))).toEqual(new Set(['api-key', 'keep']))

  await world.apply('APIKey', 'ci', { output: { secret: { name: 'elsewhere' } } })
  await world.until('APIKey', 'ci', 'has moved', (cr) => JSON.stringify(cr.status?.output).includes('elsewhere'))
  const again = await world.ready('APIKey', 'ci')
  expect(await openedBy(world, 'APIKey', await tokenOf(world, again))).toBe(status?.id)
  // The key of somebody else stays, as a Secret that nobody owns.
  const left = await secretNamed(world, 'ci')
  expect(left?.data).toEqual({ keep: btoa('mine') })
  expect(left).not.toHaveProperty('metadata.ownerReferences')
  expect(world.writes(mark)).toEqual([])

  await world.apply('APIKey', 'ci', { output: { secret: { name: 'once-more' } } })
  await until(
    'the Secret that held nothing else is gone',
    async () => (await secretNamed(world, 'elsewhere')) === undefined,
  )
  await expectLiveTokens(world, managed.find(({ definition }) => definition.kind === 'APIKey') as never)
  expect(creates(world)).toBe(1)
})

test('a deleted resource takes its object and its Secret along; a retained one leaves both to a namesake', async () => {
  await using world = await World.open()
  for (const kind of kindNames) await world.apply(kind, `${kind.toLowerCase()}-a`, { deletionPolicy: 'Retain' })
  for (const kind of kindNames) {
    const name = `${kind.toLowerCase()}-a`
    const { status } = await world.ready(kind, name)
    await world.delete(kind, name)
    await world.gone(kind, name)
    const left = await secretNamed(world, name)
    expect(left?.metadata.ownerReferences).toBeUndefined()
    const token = Buffer.from(left?.data?.token ?? '', 'base64').toString('utf8')
    expect(await openedBy(world, kind, token)).toBe(status?.id)

    const mark = creates(world)
    await world.apply(kind, name, {})
    const back = await world.ready(kind, name)
    expect(back.status?.id).toBe(status?.id)
    expect(await tokenOf(world, back)).toBe(token)
    expect(creates(world)).toBe(mark)

    await world.delete(kind, name)
    await world.gone(kind, name)
    expect(await openedBy(world, kind, token)).toBeUndefined()
    await until('the Secret is collected', async () => (await secretNamed(world, name)) === undefined)
  }
})

test('a token is written only into its Secret, whatever fails', { timeout: 120_000 }, async () => {
  await using world = await World.open()
  await applyNeeds(world, cases, ['t'])
  // Answers lost and broken, and one that repeats what it made.
  for (const path of paths) {
    world.emulator.admin.addFault({ match: { method: 'POST', path }, act: { type: 'commit-then-drop' } })
  }
  const subjects = subjectsOf(cases, 't')
  for (const { kind, name, spec } of subjects) await world.apply(kind, name, spec)
  for (const { kind, name } of subjects) await world.ready(kind, name, 60_000)
  const [first] = subjects
  await edit(world, tokenPlaceIn(first?.spec ?? {}, String(first?.name)).name, { data: { token: btoa('altered') } })
  await world.until(String(first?.kind), String(first?.name), 'was issued anew', ({ status }) => {
    return status?.internal?.superseded === undefined && status?.internal?.create?.attempt === 1
  })
  await world.resync()
  const places = await traces(world, [world.namespace, world.operatorNamespace])
  for (const [place, text] of Object.entries(places)) expect(TOKENS.exec(text)?.[0], place).toBeUndefined()
  const { items } = await world.kube.list<KubeObject>(secrets, { namespace: world.namespace })
  // The account's own key, and one Secret for each.
  const holding = items.filter((secret) => TOKENS.test(JSON.stringify(secret)))
  expect(holding).toHaveLength(subjects.length + 1)
  for (const descriptor of tokenKinds) await expectLiveTokens(world, descriptor)
})
