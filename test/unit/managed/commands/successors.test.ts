import { expect, test } from 'vitest'
import { ModelWorld } from '../../../builders/model-world.ts'

const PATH = 'backends/tunnel_group'

test('an object that is gone is not made again where another with the mark of the resource took its place in a lost history', async () => {
  const world = ModelWorld.start()
  world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: {} })
  await world.until('made', () => world.get('Backend', 'web')?.status?.id !== undefined)
  const [former] = world.account.list(PATH)
  const successor = world.account.create(PATH, { labels: {}, metadata: former?.metadata })
  world.account.delete(PATH, former?.id ?? '')
  await world.until('taken', () => world.get('Backend', 'web')?.status?.id === successor.id, 600_000)
  expect(world.account.list(PATH).map(({ id }) => id)).toEqual([successor.id])
  expect(world.writes.filter((write) => write === `POST ${PATH}`)).toHaveLength(1)
})
