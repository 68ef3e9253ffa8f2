import { expect, test } from 'vitest'
import { type Episode, episodes } from '../simulation/episodes.ts'
import { Oracle } from '../simulation/oracle.ts'
import type { Reference } from '../simulation/play.ts'
import { type Planned, playAll, References } from '../simulation/suite.ts'
import { Laboratory } from '../simulation/world.ts'
import { numbered } from '../simulation/writes.ts'
import { IS_WHOLE, some } from '../support/size.ts'
import { Hurt } from './kubernetes/hurt.ts'
import { gravest, type KubeFault, ofReads, others } from './kubernetes/kube-faults.ts'
import { rbacDenied } from './kubernetes/refusals.ts'

/**
 * Number of cases. Each write meets the gravest faults and, as far as there is room, a varying choice of the others.
 */
const CASES = 1600

test('an account whose key may not be read reports it, and opens once it may', async () => {
  const world = (await Laboratory.open()).world({ kinds: new Set(['Backend']) })
  world.trouble = {
    request: (sighting) => {
      if (!sighting.path.endsWith('/secrets/key')) return undefined
      return { type: 'answer', when: 'before', answer: rbacDenied(sighting) }
    },
  }
  const oracle = await Oracle.watch(world)
  world.apply('Backend', 'group', { type: 'TunnelGroup', tunnelGroup: {} })
  await world.advance(30_000)
  const told = world.account?.status?.conditions?.find(({ type }) => type === 'Ready')
  expect(told).toMatchObject({ status: 'False', reason: 'KubernetesError' })
  expect(told?.message).toContain('cannot get resource "secrets"')
  world.calm()
  expect(await oracle.judge()).toEqual([])
  world.down()
})

interface Asked {
  readonly episode: Episode
  readonly reference: Reference
  /** Its description with its number. */
  readonly request: string
}

test('every request to Kubernetes in every life cycle step fails in every way of an API server', async () => {
  const laboratory = await Laboratory.open()
  const references = new References(laboratory)
  const asked: Asked[] = []
  for (const episode of some(episodes, 16)) {
    const reference = await references.of(episode)
    for (const request of requestsOf(episode, reference)) asked.push({ episode, reference, request })
  }
  const reads = asked.filter(({ request }) => request.startsWith('kubernetes GET '))
  const writes = asked.filter((each) => !reads.includes(each))
  const cases = [
    ...writes.flatMap((write) => gravest.map((fault) => ({ ...write, fault }))),
    ...reads.map((read, index) => ({ ...read, fault: ofReads[index % ofReads.length] as KubeFault })),
    ...others.flatMap((_, round) =>
      writes.map((write, index) => ({ ...write, fault: others[(index + round) % others.length] as KubeFault })),
    ),
  ].filter(({ request, fault }) => fault.meets?.(request) ?? true)
  const chosen = IS_WHOLE ? cases.slice(0, CASES) : some(cases, 50)
  await playAll('Kubernetes faults', laboratory, chosen.map(plannedOf), 1500)
})

/** Whether the request is for an object next to a resource. */
const isBeside = (request: string): boolean => / \/(secrets|configmaps|dnsendpoints)(\/|$| )/.test(request)

/** Requests to Kubernetes; if an episode only creates another spec, those for objects next to the resource. */
function requestsOf({ title, before }: Episode, { requests }: Reference): readonly string[] {
  const toKubernetes = numbered(requests).filter((request) => request.startsWith('kubernetes '))
  const [subject] = title.split(' / ')
  const isTurn = before !== undefined || episodes.some((other) => other.title === `${subject} / update`)
  return isTurn ? toKubernetes : toKubernetes.filter(isBeside)
}

function plannedOf({ episode, reference, request, fault }: Asked & { readonly fault: KubeFault }): Planned {
  return {
    episode,
    reference,
    what: { write: `${episode.title}: ${request}`, point: fault.point, fault: fault.name },
    trouble: (world) => new Hurt(world, episode, { request, fault }),
  }
}
