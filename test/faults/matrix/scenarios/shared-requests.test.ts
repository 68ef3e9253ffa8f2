import { expect, test } from 'vitest'
import type { AccessEntry } from '../../../../src/managed/descriptor/access.ts'
import { countOf, until } from '../../simulation/scenario.ts'
import { Tenants } from './tenants.ts'

const blog = { namespaceSelector: { matchLabels: { team: 'blog' } } }

test('the requests of a namespace are one share, which a second entry that selects it does not double', async () => {
  const halves = ['a', 'b']
  const one = await minutesFor([{ ...blog, requestsPerMinute: 30 }])
  const two = await minutesFor(halves.map((half) => ({ ...blog, labels: { half }, requestsPerMinute: 30 })))
  expect(two).toBeGreaterThan(0.9 * one)
})

/** How long it takes to create 40 objects of one namespace. */
async function minutesFor(access: readonly AccessEntry[]): Promise<number> {
  const shared = await Tenants.begin()
  const { world } = shared
  world.editAccount({ access })
  await world.advance(5_000)
  const began = world.time.now
  for (let index = 0; index < 40; index++) {
    const labels = { half: index % 2 === 0 ? 'a' : 'b' }
    shared.apply(`blog/Backend/web-${index}`, { type: 'TunnelGroup', tunnelGroup: { labels } })
  }
  const made = () => countOf(shared.writes, 'api POST /backends/tunnel_group')
  await until(shared.world, 'all are made', () => made() === 40, 600_000)
  return (world.time.now - began) / 60_000
}
