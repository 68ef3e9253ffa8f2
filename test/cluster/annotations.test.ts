import { expect, inject, test } from 'vitest'
import { createKubectl } from '../../controlplane/kubectl.ts'
import { writeCommand } from '../../src/managed/kubectl.ts'
import { culvert } from './support/culvert.ts'
import { runPrinted } from './support/printed-command.ts'
import { until } from './support/wait.ts'
import { conditionOf, World } from './support/world.ts'

const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }
const PAUSE = { 'culvert.dev/paused': 'true' }
const RESUME = { 'culvert.dev/paused': null }

/** Asks for a look at the resource and waits for the answer. */
async function request(world: World, kind: string, name: string, value: string): Promise<void> {
  await world.annotate(kind, name, { 'culvert.dev/reconcile-requested-at': value })
  await world.until(kind, name, `answered ${value}`, ({ status }) => status?.lastHandledReconcileAt === value)
}

test('while a resource is paused nothing is done about edits, drift and requests; afterwards all is made up for', async () => {
  await using world = await World.open()
  await world.apply('Backend', 'web', { ...tunnels, description: 'first' })
  const { status } = await world.ready('Backend', 'web')
  await world.annotate('Backend', 'web', PAUSE)
  await world.reason('Backend', 'web', 'Synced', 'Paused')
  const mark = world.mark()
  await world.apply('Backend', 'web', { ...tunnels, description: 'second' })
  await world.annotate('Backend', 'web', { 'culvert.dev/reconcile-requested-at': 'while-paused' })
  await world.api.patch(`/backends/tunnel_group/${status?.id}`, { id: status?.id, metadata: 'changed by somebody' })
  const own = world.mark()
  await world.resync()
  await world.resync()
  expect(world.writes(mark).filter(({ seq }) => seq > own)).toEqual([])
  expect((await world.get('Backend', 'web'))?.status?.lastHandledReconcileAt).toBeUndefined()
  expect(conditionOf(await world.get('Backend', 'web'), 'Ready')?.status).toBe('True')

  await world.annotate('Backend', 'web', RESUME)
  await world.until('Backend', 'web', 'answered', (cr) => cr.status?.lastHandledReconcileAt === 'while-paused')
  await world.ready('Backend', 'web')
  const [object] = await world.remote('backends/tunnel_group')
  expect(object).toMatchObject({ id: status?.id, description: 'second' })
  expect(object?.metadata).toContain('"culvert"')
})

test('the deletion of a paused resource waits until it is resumed', async () => {
  await using world = await World.open()
  await world.apply('Backend', 'web', tunnels)
  await world.ready('Backend', 'web')
  await world.annotate('Backend', 'web', PAUSE)
  await world.reason('Backend', 'web', 'Synced', 'Paused')
  await world.delete('Backend', 'web')
  // The watch tells of changes in order: what was asked for later is done, so the deletion has been seen.
  await world.apply('Backend', 'other', tunnels)
  await world.ready('Backend', 'other')
  await world.resync()
  expect(world.writes().filter(({ method }) => method === 'DELETE')).toEqual([])
  expect((await world.get('Backend', 'web'))?.metadata.deletionTimestamp).toBeDefined()
  expect(await world.remote('backends/tunnel_group')).toHaveLength(2)

  await world.annotate('Backend', 'web', RESUME)
  await world.gone('Backend', 'web')
  expect(await world.remote('backends/tunnel_group')).toHaveLength(1)
})

test('a paused resource that never was created stays so until it is resumed', { tags: 'nightly' }, async () => {
  await using world = await World.open()
  await world.apply('Backend', 'web', tunnels, { annotations: { 'culvert.dev/paused': 'true' } })
  await world.reason('Backend', 'web', 'Synced', 'Paused')
  await world.resync()
  expect(world.writes()).toEqual([])
  await world.annotate('Backend', 'web', RESUME)
  await world.ready('Backend', 'web')
  expect(await world.remote('backends/tunnel_group')).toHaveLength(1)
})

test('a request for a look reads the object from the API once and, with nothing to repaired, writes only its answer', async () => {
  await using world = await World.open()
  await world.apply('Backend', 'web', tunnels)
  const before = await world.ready('Backend', 'web')
  const mark = world.mark()
  await request(world, 'Backend', 'web', 'one')
  expect(world.journal(mark).map(({ method, path }) => `${method} ${path}`)).toEqual([
    `GET /backends/tunnel_group/${before.status?.id}`,
  ])
  const after = await world.get('Backend', 'web')
  expect(after?.status).toEqual({ ...before.status, lastHandledReconcileAt: 'one' })
  expect(after?.metadata.generation).toBe(before.metadata.generation)
})

test('a request for a look finds drift without waiting for the next pass, in an object and in what it holds', {
  tags: 'nightly',
}, async () => {
  await using world = await World.open()
  await world.apply('Backend', 'web', tunnels)
  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow', description: 'all' }] })
  const { status: web } = await world.ready('Backend', 'web')
  await world.ready('IPPolicy', 'office')
  const [rule] = await world.remote('ip_policy_rules')
  await world.api.patch(`/backends/tunnel_group/${web?.id}`, { id: web?.id, description: 'drifted' })
  await world.api.patch(`/ip_policy_rules/${rule?.id}`, { id: rule?.id, description: 'drifted' })
  await request(world, 'Backend', 'web', 'one')
  await request(world, 'IPPolicy', 'office', 'one')
  expect(await world.remote('backends/tunnel_group')).toMatchObject([{ id: web?.id, description: '' }])
  expect(await world.remote('ip_policy_rules')).toMatchObject([{ id: rule?.id, description: 'all' }])
  expect(await world.operator.metric('culvert_drift_total', 'kind="Backend"')).toBe(1)
  expect(await world.operator.metric('culvert_drift_total', 'kind="IPPolicy"')).toBe(1)
})

test('a resource with deletionPolicy Retain goes without a call to the API, though its key is revoked', async () => {
  await using world = await World.open()
  const key = await world.api.post('/api_keys', { description: 'of the operator' })
  await world.setKey(String(key.body.token))
  await world.apply('Backend', 'kept', { ...tunnels, deletionPolicy: 'Retain' })
  const { status } = await world.ready('Backend', 'kept')
  await until('the new key is in use', () => world.journal().some(({ keyId }) => keyId === key.body.id))
  await world.api.delete(`/api_keys/${key.body.id}`)
  await world.annotate('Account', 'default', { 'culvert.dev/reconcile-requested-at': 'revoked' })
  await world.reason('Account', 'default', 'Ready', 'Unauthorized')
  await world.delete('Backend', 'kept')
  await world.gone('Backend', 'kept')
  expect(await world.remote('backends/tunnel_group')).toMatchObject([{ id: status?.id }])
})

/** Of its `managedFields`, kustomize-controller takes over what these own, and removes what its manifest lacks. */
const TAKEN_OVER = /^(kubectl|before-first-apply|kustomize-controller)/

test('what people ask for by culvert and by printed commands stays where Flux applies the manifest', {
  tags: 'nightly',
}, async () => {
  await using world = await World.open()
  const { kubeconfig, namespace } = world
  await world.apply('Backend', 'web', tunnels)
  await world.ready('Backend', 'web')
  const { code, stderr } = await culvert(['pause', 'backend/web', '-n', namespace], { kubeconfig })
  expect(code, stderr).toBe(0)
  const named = `backends.culvert.dev/web -n ${namespace}`
  await runPrinted(writeCommand('annotate', named, 'example.com/incident=open'), kubeconfig)
  const kubectl = createKubectl({ path: inject('kubectlPath'), kubeconfig })
  const { stdout } = await kubectl.run(['get', ...named.split(' '), '-o', 'json', '--show-managed-fields'])
  const { managedFields } = JSON.parse(stdout).metadata as { readonly managedFields: readonly { manager: string }[] }
  const ownersOf = (annotation: string) => {
    return managedFields.flatMap((each) => (JSON.stringify(each).includes(`"f:${annotation}"`) ? [each.manager] : []))
  }
  for (const annotation of ['culvert.dev/paused', 'example.com/incident']) {
    expect(ownersOf(annotation), annotation).toHaveLength(1)
    expect(ownersOf(annotation).filter((manager) => TAKEN_OVER.test(manager))).toEqual([])
  }
})
