import type { Node, ResourceGraph } from './resource-graph.ts'

/** A node with everything below it. */
export interface Branch {
  readonly node: Node
  /** The field by which the node above names it; undefined for a root. */
  readonly by: string | undefined
  /** Whether the node was shown before, in this tree or one before; its branches are then left out. */
  readonly repeated: boolean
  readonly branches: readonly Branch[]
}

/** Which way a tree grows: to what a resource needs, or to what needs it. */
export type Direction = 'needs' | 'usedBy'

/** Trees from the roots. A node that was shown with its branches is not shown with them again, so that cycles end. */
export function branchesOf(graph: ResourceGraph, roots: readonly Node[], direction: Direction): readonly Branch[] {
  const shown = new Set<string>()
  const grow = (node: Node, by: string | undefined): Branch => {
    const next = (graph[direction].get(node.key) ?? []).flatMap(({ by: field, to }) => {
      const target = graph.nodes.get(to)
      return target === undefined ? [] : [{ field, target }]
    })
    if (shown.has(node.key)) return { node, by, repeated: next.length > 0, branches: [] }
    shown.add(node.key)
    return { node, by, repeated: false, branches: next.map(({ field, target }) => grow(target, field)) }
  }
  return roots.map((root) => grow(root, undefined))
}
