import { expect, test } from 'vitest'
import type { JournalEntry } from '../../src/emulator/http/journal.ts'
import { type Resource, World } from './support/world.ts'

type Fields = Record<string, unknown>

/** Fields of a PATCH, `id` aside: every update body carries it. */
function fieldsOf({ body }: JournalEntry): readonly string[] {
  return Object.keys(body as Fields).filter((name) => name !== 'id')
}

test('a module that others put on an edge is reported and left alone until the spec names it', async () => {
  await using world = await World.open()
  const base = { protocol: 'TCP' }
  await world.apply('Edge', 'shop', base)
  const { status } = await world.ready('Edge', 'shop')
  const policy = { enabled: true, inbound: [{ name: 'theirs', actions: [{ type: 'deny' }] }], outbound: [] }
  await world.api.patch(`/edges/tcp/${status?.id}`, { id: status?.id, policy })
  const mark = world.mark()
  const reported = (cr: Resource): boolean => String(cr.status?.foreignModules) === 'trafficPolicy'
  await world.resync()
  await world.until('Edge', 'shop', 'reports the module', reported)
  // Nor is it taken for ours after an edit, or after the status was lost.
  await world.apply('Edge', 'shop', { ...base, description: 'edited' })
  expect(reported(await world.ready('Edge', 'shop'))).toBe(true)
  expect(world.writes(mark).map(fieldsOf)).toEqual([['description']])
  await world.loseStatus([{ kind: 'Edge', name: 'shop' }])
  await world.ready('Edge', 'shop')
  await world.annotate('Edge', 'shop', { 'culvert.dev/reconcile-requested-at': 'again' })
  await world.until('Edge', 'shop', 'was looked at', (cr) => cr.status?.lastHandledReconcileAt === 'again')
  expect(reported(await world.ready('Edge', 'shop'))).toBe(true)
  expect(await world.remote('edges/tcp')).toMatchObject([{ policy: { enabled: true, inbound: [{ name: 'theirs' }] } }])
  expect(world.writes(mark)).toHaveLength(1)

  // Named in the spec it is ours, although it needed no write; taken out again, it is disabled.
  const named = { inbound: [{ name: 'theirs', actions: [{ type: 'deny' }] }] }
  await world.apply('Edge', 'shop', { ...base, description: 'edited', trafficPolicy: named })
  expect((await world.ready('Edge', 'shop')).status).toMatchObject({ internal: { appliedModules: ['trafficPolicy'] } })
  expect(world.writes(mark)).toHaveLength(1)
  await world.apply('Edge', 'shop', { ...base, description: 'edited' })
  const after = await world.ready('Edge', 'shop')
  expect(after.status?.foreignModules).toBeUndefined()
  expect(after.status).toMatchObject({ access: 'Public', internal: { appliedModules: [] } })
  expect(await world.remote('edges/tcp')).toMatchObject([{ policy: { enabled: false } }])
})
