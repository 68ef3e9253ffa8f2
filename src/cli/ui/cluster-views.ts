import { readEnvironment } from '../../config.ts'
import type { KubeObject } from '../../kube/types.ts'
import { nameOf } from '../../managed/cr.ts'
import { CommandError } from '../cluster/command-error.ts'
import type { OperatorFlags } from '../cluster/operator-lease.ts'
import type { StatedResource } from '../cluster/resource-state.ts'
import { pictureOf } from './edge-steps.ts'
import { EdgeRows, lineOf } from './edge-views.ts'
import { type Connections, historyOf } from './history.ts'
import { judgementOf } from './judgement.ts'
import type { LiveResources } from './live-resources.ts'
import type { Views } from './server.ts'

/** What the views need besides resources. */
export interface ViewOptions {
  readonly flags: OperatorFlags
  /** What is shown, for the heading: the server, and the namespace or that it is all. */
  readonly title: string
  /** Undefined for a real service, which does not show connections. */
  readonly connections?: Connections | undefined
}

/** The views of a cluster. */
export function clusterViews(live: LiveResources, { flags, title, connections }: ViewOptions): Views {
  const rows = new EdgeRows(live)
  let current = rows.current()
  const senders = new Set<(event: string, view: unknown) => void>()
  live.onChange(() => {
    const next = rows.current()
    const set = [...next.values()].filter((row) => current.get(row.id) !== row)
    const gone = [...current.keys()].filter((id) => !next.has(id))
    current = next
    // Also without changed rows: something in the line of an edge has changed.
    for (const send of senders) send('change', { set, gone })
  })
  return {
    follow: (send) => {
      const unreadable = live.unreadable.map(({ message, command }) => ({ message, command }))
      send('start', { title, unreadable, rows: [...current.values()] })
      senders.add(send)
      return () => senders.delete(send)
    },
    view: async (path, query) => {
      if (path === 'edge') return lineOf(live, edgeIn(live, query), flags)
      if (path === 'judge') {
        const from = query.get('from') ?? ''
        return judgementOf(live.cluster, nameOf(edgeIn(live, query)), { from, flags, environment: readEnvironment() })
      }
      if (path !== 'history') return undefined
      const edge = edgeIn(live, query)
      const seen = connections?.(String(edge.status?.id))
      return historyOf(live.cluster, resourcesOf(live, edge), { flags, connections: seen })
    },
  }
}

/** @throws CommandError `NotFound` */
function edgeIn(live: LiveResources, query: URLSearchParams): StatedResource {
  const id = query.get('edge') ?? ''
  const [namespace = '', name = ''] = id.split('/')
  const edge = live.get({ kind: 'Edge', namespace, name })
  if (edge !== undefined) return edge
  throw new CommandError('NotFound', `there is no Edge ${id}, or it is not among those that are shown`)
}

/** The edge, and what its line shows. */
function resourcesOf(live: LiveResources, edge: StatedResource): readonly KubeObject[] {
  const lookup = { kinds: live.cluster.kinds, get: live.get.bind(live), list: live.list.bind(live) }
  const parts = pictureOf(lookup, edge).steps.flatMap((step) => step.parts)
  return [...new Set([edge, ...parts.flatMap(({ resource }) => resource ?? [])])]
}
