import { expect, test } from 'vitest'
import type { KubeObject } from '../../../src/kube/types.ts'
import { events } from '../../../src/runtime/events.ts'
import type { Fault, Sighting } from '../simulation/faults.ts'
import { Oracle } from '../simulation/oracle.ts'
import { Laboratory } from '../simulation/world.ts'

const UNAVAILABLE = { status: 503, body: '' }
const REASON = 'not this one'
const REFUSED = { status: 400, body: JSON.stringify({ status_code: 400, msg: REASON, details: {} }) }

/** What may befall a write to Kubernetes once, by which an Event could get lost. */
const troubles: readonly (readonly [what: string, isMeant: (sighting: Sighting) => boolean, fault: Fault])[] = [
  ['the answer to the status is lost', isStatus, { type: 'reset', when: 'after' }],
  ['no answer to the status comes', isStatus, { type: 'silence', when: 'after' }],
  ['the status is refused', isStatus, { type: 'answer', when: 'before', answer: UNAVAILABLE }],
  ['the Event is refused', isEvent, { type: 'answer', when: 'before', answer: UNAVAILABLE }],
  ['the answer to the Event is lost', isEvent, { type: 'reset', when: 'after' }],
  ['no answer to the Event comes', isEvent, { type: 'silence', when: 'before' }],
]

function isStatus({ method, path }: Sighting): boolean {
  return method === 'PATCH' && path.endsWith('/backends/web/status')
}

function isEvent({ method, path, body }: Sighting): boolean {
  return method === 'POST' && path.endsWith('/events') && body.includes(REASON)
}

test.each(troubles)('one Event tells that a resource is refused, although %s', async (_what, isMeant, fault) => {
  const laboratory = await Laboratory.open()
  const world = laboratory.world({ kinds: new Set(['Backend']) })
  const oracle = await Oracle.watch(world)
  world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } })
  expect(await oracle.untilRest()).toEqual([])
  let isRefused = false
  let befell = 0
  world.trouble = {
    request: (sighting) => {
      if (sighting.server === 'api' && sighting.method === 'PATCH') {
        isRefused = true
        return { type: 'answer', when: 'before', answer: REFUSED }
      }
      return isRefused && isMeant(sighting) && befell++ === 0 ? fault : undefined
    },
  }
  world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } }, description: 'new' })
  await world.advance(60_000)
  expect(befell).toBeGreaterThan(0)
  const told = world.kube.list<KubeObject & { readonly note?: string }>(events).items
  expect(told.filter(({ note }) => note?.includes(REASON))).toHaveLength(1)
})
