/** What a backend is, as far as the choice needs it (`management-api.md § Edges and backends`). */
export type BackendNode =
  /** Live tunnels with all the labels, oldest first. */
  | { readonly kind: 'tunnels'; readonly tunnels: readonly string[] }
  /** A fixed answer, which can always be given. */
  | { readonly kind: 'response' }
  /** Children with their weights. */
  | { readonly kind: 'weighted'; readonly children: readonly (readonly [id: string, weight: number])[] }
  /** Children in order. */
  | { readonly kind: 'failover'; readonly children: readonly string[] }

/** Where a connection may go. */
export type Target =
  | { readonly kind: 'tunnel'; readonly backend: string; readonly tunnel: string }
  | { readonly kind: 'response'; readonly backend: string }

export interface Sources {
  /** The backend as it is now; undefined when there is none. */
  readonly read: (id: string) => BackendNode | undefined
  /** Counts the connections of a tunnel group, so that its tunnels are served round-robin. */
  readonly turn: (id: string) => number
  /** A number in [0, 1). */
  readonly random: () => number
  /** Whether the other children of a weighted backend are tried when the one that was drawn cannot serve. */
  readonly fallsBack: boolean
}

/**
 * The targets of a connection in the order in which to try them; each once, however the backends are nested. The
 * tunnels of a group are served round-robin, a weighted backend draws its children by weight, a failover backend uses
 * them in order. A child with the weight 0 is never used. Pure but for its sources.
 */
export function* targetsOf(id: string, sources: Sources, visited = new Set<string>()): Generator<Target, void> {
  if (visited.has(id)) return
  visited.add(id)
  const node = sources.read(id)
  switch (node?.kind) {
    case undefined:
      return
    case 'tunnels':
      if (node.tunnels.length === 0) return
      for (const tunnel of rotated(node.tunnels, sources.turn(id))) yield { kind: 'tunnel', backend: id, tunnel }
      return
    case 'response':
      yield { kind: 'response', backend: id }
      return
    case 'weighted':
      for (const child of drawn(node.children, sources.random)) {
        yield* targetsOf(child, sources, visited)
        if (!sources.fallsBack) return
      }
      return
    case 'failover':
      for (const child of node.children) yield* targetsOf(child, sources, visited)
      return
  }
}

function rotated<T>(items: readonly T[], turn: number): readonly T[] {
  const start = turn % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}

/** All children with a weight, drawn one after the other. */
function* drawn(children: readonly (readonly [id: string, weight: number])[], random: () => number): Generator<string> {
  const left = children.filter(([, weight]) => weight > 0)
  while (left.length > 0) {
    const total = left.reduce((sum, [, weight]) => sum + weight, 0)
    let rest = random() * total
    const index = left.findIndex(([, weight]) => {
      rest -= weight
      return rest < 0
    })
    const [child] = left.splice(index < 0 ? left.length - 1 : index, 1)
    if (child !== undefined) yield child[0]
  }
}
