import { describe, expect, test } from 'vitest'
import { requestLimit } from '../../../../src/managed/accounts/access.ts'
import type { AccessEntry } from '../../../../src/managed/descriptor/access.ts'
import { SharedWorld } from '../../../builders/shared-world.ts'

const all = { namespaceSelector: {} }
const blog = { namespaceSelector: { matchLabels: { team: 'blog' } } }
const shop = { namespaceSelector: { matchLabels: { team: 'shop' } } }

describe('the requests of a namespace', () => {
  test.each<readonly [what: string, entries: readonly AccessEntry[], limit: number | undefined]>([
    ['are not limited where no entry says so', [all, blog], undefined],
    ['are limited by the one entry that says so', [{ ...all, requestsPerMinute: 60 }, blog], 60],
    [
      'are limited by the smallest of several numbers',
      [
        { ...all, requestsPerMinute: 60 },
        { ...blog, requestsPerMinute: 20 },
      ],
      20,
    ],
    ['are limited by an entry for another kind too', [{ ...blog, kinds: ['APIKey'], requestsPerMinute: 10 }, all], 10],
    ['are not limited by an entry for others', [{ ...shop, requestsPerMinute: 10 }, blog], undefined],
  ])('%s', (_what, entries, limit) => {
    expect(requestLimit(entries, { team: 'blog' })).toBe(limit)
    expect(requestLimit([...entries].reverse(), { team: 'blog' })).toBe(limit)
  })

  test('are not limited where nothing is known of it, since nothing is allowed there', () => {
    expect(requestLimit([{ ...all, requestsPerMinute: 10 }], undefined)).toBeUndefined()
    expect(requestLimit(undefined, { team: 'blog' })).toBeUndefined()
  })

  test('are one share, which a second entry that selects it does not double', async () => {
    const halves = ['a', 'b']
    const one = await minutesFor([{ ...blog, requestsPerMinute: 30 }])
    const two = await minutesFor(halves.map((half) => ({ ...blog, labels: { half }, requestsPerMinute: 30 })))
    expect(two).toBeGreaterThan(0.9 * one)
  })
})

/** How long it takes to create 40 objects of one namespace. */
async function minutesFor(access: readonly AccessEntry[]): Promise<number> {
  const shared = SharedWorld.start()
  const { clock, kube } = shared.world
  const type = { group: 'culvert.dev', version: 'v1alpha1', plural: 'clusteraccounts', kind: 'ClusterAccount' }
  kube.mergePatch({ ...type, namespaced: false }, { name: 'shared' }, { spec: { access } })
  await clock.advance(5_000)
  const began = clock.monotonic()
  for (let index = 0; index < 40; index++) {
    const labels = { half: index % 2 === 0 ? 'a' : 'b' }
    shared.apply(`blog/Backend/web-${index}`, { type: 'TunnelGroup', tunnelGroup: { labels } })
  }
  const made = () => shared.world.writes.filter((write) => write.startsWith('POST backends/')).length
  await shared.world.until('all are made', () => made() === 40, 600_000)
  return (clock.monotonic() - began) / 60_000
}
