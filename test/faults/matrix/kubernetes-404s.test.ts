import { expect, test } from 'vitest'
import { type Episode, episodes } from '../simulation/episodes.ts'
import { Oracle } from '../simulation/oracle.ts'
import type { Reference } from '../simulation/play.ts'
import { type Planned, playAll, References } from '../simulation/suite.ts'
import { Laboratory } from '../simulation/world.ts'
import { numbered } from '../simulation/writes.ts'
import { some } from '../support/size.ts'
import { Hurt } from './kubernetes/hurt.ts'
import { type KubeFault, notFounds } from './kubernetes/kube-faults.ts'
import { notFound } from './kubernetes/refusals.ts'

/** The episodes of life cycles, without those that create every possible spec. */
const lives = episodes.slice(0, 1 + episodes.findLastIndex(({ title }) => title.endsWith('/ delete')))

test('a 404 to any request to Kubernetes, even from a proxy, strands no resource', { tags: 'nightly' }, async () => {
  const laboratory = await Laboratory.open()
  const references = new References(laboratory)
  const cases: Planned[] = []
  for (const episode of some(lives, 16)) {
    const reference = await references.of(episode)
    const requests = numbered(reference.requests).filter((request) => request.startsWith('kubernetes '))
    for (const request of requests) {
      for (const fault of notFounds.filter(({ meets }) => meets?.(request) ?? true)) {
        cases.push(plannedOf({ episode, reference, request, fault }))
      }
    }
  }
  await playAll('Kubernetes 404s', laboratory, some(cases, 60), 1000)
})

test('an account opens although its first writes are answered 404', async () => {
  const world = (await Laboratory.open()).world({ kinds: new Set(['Backend']) })
  const hit = new Set<string>()
  world.trouble = {
    request: (sighting) => {
      const write = `${sighting.method} ${sighting.path}`
      if (sighting.method === 'GET' || !/\/(accounts|secrets)\//.test(sighting.path) || hit.has(write)) return undefined
      hit.add(write)
      return { type: 'answer', when: 'before', answer: notFound(sighting) }
    },
  }
  const oracle = await Oracle.watch(world)
  world.apply('Backend', 'group', { type: 'TunnelGroup', tunnelGroup: {} })
  expect(await oracle.judge()).toEqual([])
  // Its finalizer, its status, and the copy of its key.
  expect(hit.size).toBe(3)
  world.down()
})

interface Asked {
  readonly episode: Episode
  readonly reference: Reference
  readonly request: string
  readonly fault: KubeFault
}

function plannedOf({ episode, reference, request, fault }: Asked): Planned {
  return {
    episode,
    reference,
    what: { write: `${episode.title}: ${request}`, point: fault.point, fault: fault.name },
    trouble: (world) => new Hurt(world, episode, { request, fault }),
  }
}
