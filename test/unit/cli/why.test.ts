import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Leader } from '../../../src/cli/cluster/operator-lease.ts'
import { type StatedResource, stateOf } from '../../../src/cli/cluster/resource-state.ts'
import { Snapshot } from '../../../src/cli/cluster/snapshot.ts'
import { spanText, wrap } from '../../../src/cli/terminal/line.ts'
import { findCauses, type Link } from '../../../src/cli/why/causes.ts'
import { paragraphOf } from '../../../src/cli/why/paragraph.ts'
import { remedyOf } from '../../../src/cli/why/remedy.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { conditionReasons } from '../../../src/managed/descriptor/reasons.ts'
import { KindsRegistry } from '../../../src/managed/kinds-registry.ts'

const NOW = Date.parse('2026-11-24T10:00:00Z')
const named = {
  culvert: '-n web backend/web',
  kubectl: 'backends.culvert.dev/web -n web',
  collection: 'backends',
  descriptor: new KindsRegistry(kinds).descriptor('Backend'),
}

function link(reason: string, type: 'Reconciling' | 'Stalled', metadata = {}): Link {
  const lastTransitionTime = '2026-11-24T09:00:00Z'
  const condition = { reason, message: `because of ${reason}`, lastTransitionTime }
  const resource: StatedResource = {
    apiVersion: 'culvert.dev/v1alpha1',
    kind: 'Backend',
    metadata: { namespace: 'web', name: 'web', uid: 'u', resourceVersion: '1', ...metadata },
    status: {
      conditions: [
        { type: 'Ready', status: 'False', ...condition },
        { type: type, status: 'True', ...condition },
      ],
    },
  }
  return { name: { kind: 'Backend', namespace: 'web', name: 'web' }, by: undefined, resource, state: stateOf(resource) }
}

test('a new resource on which nobody has reported waits for a new one that it refers to', async () => {
  const created = { namespace: 'web', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-11-24T09:59:50Z' }
  const stated = (kind: string, name: string, rest: object): StatedResource => {
    return { apiVersion: 'culvert.dev/v1alpha1', kind, metadata: { ...created, name }, ...rest }
  }
  const conditions = [{ type: 'Ready', status: 'True', reason: 'Available', message: 'works' }]
  const edge = stated('Edge', 'shop', { spec: { protocol: 'TLS', backend: { name: 'web' } } })
  const snapshot = new Snapshot(new KindsRegistry(kinds), { get: () => Promise.resolve(undefined) })
  snapshot.hold([
    edge,
    stated('Backend', 'web', { spec: { type: 'TunnelGroup', tunnelGroup: {} } }),
    stated('Account', 'default', { spec: {}, status: { conditions } }),
  ])
  const causes = await findCauses(snapshot, edge)
  expect(causes.map(({ name: { kind, name }, by }) => [kind, name, by])).toEqual([
    ['Edge', 'shop', undefined],
    ['Backend', 'web', 'spec.backend'],
  ])
})

describe('the paragraph', () => {
  test.for(Object.entries(conditionReasons))('about %s has the remedy of its explanation', ([reason, { remedy }]) => {
    const root = link(reason, 'Stalled')
    const paragraph = paragraphOf({ links: [root], sides: [], events: [], requests: [], leader: undefined, now: NOW })
    expect(paragraph).toContain(`(for 1 hour, since 2026-11-24T09:00:00Z): because of ${reason}.`)
    const { text, command } = remedyOf(root, undefined, named, NOW)
    if (remedy === 'Nothing.') expect(command).toBeUndefined()
    else {
      expect(text).not.toMatch(/\]\(/)
      expect(text.slice(0, 10)).toBe(remedy.replace(/^\[/, '').slice(0, 10))
      expect(command).toMatch(/^(kubectl|culvert) /)
    }
  })

  test('names how often and when something was reported last', () => {
    const regarding = { kind: 'Backend', namespace: 'web', name: 'web' }
    const event = { type: 'Warning', reason: 'Rejected', note: 'no', regarding }
    const events = [
      { ...event, at: '2026-11-24T09:40:00Z' },
      { ...event, at: '2026-11-24T09:50:00Z' },
      { ...event, type: 'Normal', reason: 'Created', at: '2026-11-24T09:51:00Z' },
    ]
    const paragraph = paragraphOf({
      links: [link('Rejected', 'Stalled')],
      sides: [],
      events,
      requests: undefined,
      leader: undefined,
      now: NOW,
    })
    expect(paragraph).toContain('Culvert reported Rejected about Backend/web 2 times, last 10 minutes ago.')
  })

  test('says what was sent last, why, and how it ended', () => {
    const regarding = { kind: 'Backend', namespace: 'web', name: 'web' }
    const sent = { type: 'Warning', reason: 'drift', regarding, at: '2026-11-24T09:58:00Z' }
    const requests = [
      { ...sent, note: 'PATCH backends/bkd_1 done (200): labels', at: '2026-11-24T09:50:00Z' },
      { ...sent, note: 'PATCH backends/bkd_1 refused (400): labels' },
    ]
    const links: [Link] = [link('Rejected', 'Stalled')]
    const paragraph = paragraphOf({ links, sides: [], events: [], requests, leader: undefined, now: NOW })
    expect(paragraph).toContain(
      'The last request to the API, 2 minutes ago, reason drift: PATCH backends/bkd_1 refused (400): labels.',
    )
  })

  test('says that no operator runs, before anything else may be done', () => {
    const leader = {
      type: 'silent',
      namespace: 'culvert-system',
      release: 'culvert',
      holder: 'pod-1',
      silentMs: 7_200_000,
    } as const
    const root = link('Progressing', 'Reconciling')
    const paragraph = paragraphOf({ links: [root], sides: [], events: [], requests: [], leader, now: NOW })
    expect(paragraph).toContain(
      'Its operator does not run: Lease culvert in namespace culvert-system was last renewed 2 hours ago',
    )
    expect(remedyOf(root, leader, named, NOW).command).toBe('kubectl get pods -n culvert-system')
  })
})

describe('of a resource on which no operator has reported', () => {
  const leading = { type: 'leading', namespace: 'culvert-system', release: 'culvert', holder: 'pod-1' } as const
  const commandFor = (age: number, finalizers: readonly string[], leader: Leader = leading): string | undefined => {
    const creationTimestamp = new Date(NOW - age).toISOString()
    const metadata = { name: 'web', namespace: 'web', uid: 'u', resourceVersion: '1', creationTimestamp, finalizers }
    const resource: StatedResource = { apiVersion: 'culvert.dev/v1alpha1', kind: 'Backend', metadata }
    const root = { name: { kind: 'Backend', namespace: 'web', name: 'web' }, by: undefined, resource }
    return remedyOf({ ...root, state: stateOf(resource) }, leader, named, NOW).command
  }

  test('nothing is wrong for half a minute', () => {
    expect(commandFor(10_000, [])).toBe(`culvert why ${named.culvert}`)
    expect(commandFor(40_000, [])).toBe('culvert doctor')
  })

  test('something is wrong if it was worked on, or if nothing tells that an operator runs', () => {
    expect(commandFor(10_000, ['culvert.dev/remote'])).toBe('culvert doctor')
    expect(commandFor(10_000, [], { type: 'none' })).toBe('culvert doctor')
  })
})

describe('lines for a terminal', () => {
  test('hold every word, in order, and are no longer than the terminal unless a word is', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,30}$/), { maxLength: 60 })
    fc.assert(
      fc.property(words, fc.integer({ min: 1, max: 120 }), (given, width) => {
        const lines = wrap(given.join(' '), width)
        expect(lines.flatMap((line) => line.split(' '))).toEqual(given)
        for (const line of lines) expect(line.length <= width || !line.includes(' ')).toBe(true)
      }),
    )
  })

  test('keep the spaces within them, and begin with the indentation after the first', () => {
    expect(wrap('labels: "a  b" → "c  d"', 16, '  ')).toEqual(['labels: "a  b" →', '  "c  d"'])
  })
})

test.for([
  [999, 'a moment'],
  [1000, '1 second'],
  [59_999, '59 seconds'],
  [60_000, '1 minute'],
  [7_200_000, '2 hours'],
  [86_400_000, '1 day'],
] as const)('%s ms are %s', ([ms, text]) => {
  expect(spanText(ms)).toBe(text)
})
