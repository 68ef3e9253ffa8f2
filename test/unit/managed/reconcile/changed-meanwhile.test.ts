import { expect, test } from 'vitest'
import { ModelWorld } from '../../../builders/model-world.ts'

const PATH = 'backends/tunnel_group'

function synced(world: ModelWorld) {
  const cr = world.get('Backend', 'web')
  const condition = cr?.status?.conditions?.find(({ type }) => type === 'Synced')
  return condition?.observedGeneration === cr?.metadata.generation ? condition : undefined
}

test('what somebody changed by hand and the answer to an edit shows first is put right at once', async () => {
  const world = ModelWorld.start()
  world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } })
  await world.until('Synced', () => synced(world)?.status === 'True')
  world.account.update(PATH, world.account.list(PATH)[0]?.id ?? '', { labels: { app: 'other' } })
  world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } }, description: 'new' })
  await world.until('Synced', () => synced(world)?.status === 'True', 5_000)
  expect(world.account.list(PATH)).toMatchObject([{ labels: { app: 'shop' }, description: 'new' }])
  expect(world.writes.filter((write) => write === `PATCH ${PATH}`)).toHaveLength(2)
  expect(world.bugs).toEqual([])
})
