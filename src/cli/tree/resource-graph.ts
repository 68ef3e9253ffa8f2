import { type CustomResource, nameOf, nameText, type ResourceName, statusOf } from '../../managed/cr.ts'
import type { KindsRegistry } from '../../managed/kinds-registry.ts'
import { referredName } from '../../managed/references/crossings.ts'
import type { StatedResource } from '../cluster/resource-state.ts'

/** A resource that others refer to or that refers to others; or an object that no resource of the graph holds. */
export interface Node {
  readonly key: string
  readonly kind: string
  readonly namespace: string | undefined
  /** Name of the resource; undefined for an object that is referred to by its id. */
  readonly name: string | undefined
  /** Id at the API, if it is known. */
  readonly id: string | undefined
  /** Undefined: there is no such resource. */
  readonly resource: StatedResource | undefined
}

/** A line from a resource to one that it needs. */
export interface Edge {
  /** The field, such as `ipRestriction`, or `part` for a part of the resource. */
  readonly by: string
  readonly to: string
  /** A weight, or a place in an order. */
  readonly note?: string | undefined
}

/** What refers to what, as far as the given resources say. */
export interface ResourceGraph {
  readonly nodes: ReadonlyMap<string, Node>
  /** From each node to those that it needs, in the order of the spec. */
  readonly needs: ReadonlyMap<string, readonly Edge[]>
  /** From each node to those that need it. */
  readonly usedBy: ReadonlyMap<string, readonly Edge[]>
}

/**
 * The graph of resources by the references that their descriptors declare. A part belongs below its whole, although it
 * is the part that refers to the whole.
 */
export function graphOf(kinds: KindsRegistry, resources: readonly StatedResource[]): ResourceGraph {
  const nodes = new Map(resources.map((resource) => [keyOf(nameOf(resource)), nodeFor(resource)]))
  const byId = new Map(resources.flatMap((resource) => idEntries(resource)))
  const needs = new Map<string, Edge[]>()
  const usedBy = new Map<string, Edge[]>()
  const connect = (from: string, to: string, edge: Omit<Edge, 'to'>): void => {
    needs.set(from, [...(needs.get(from) ?? []), { ...edge, to }])
    usedBy.set(to, [...(usedBy.get(to) ?? []), { ...edge, to: from }])
  }
  for (const resource of resources) {
    for (const { kind, path, ref, note, partOf } of referencesOf(kinds, resource)) {
      const target =
        ref.id === undefined
          ? missing(referredName(resource as CustomResource, { kind, ref }))
          : (byId.get(idKey(kind, ref.id)) ?? unmanaged(kind, ref.id))
      if (!nodes.has(target.key)) nodes.set(target.key, target)
      const own = keyOf(nameOf(resource))
      if (partOf === undefined) connect(own, target.key, { by: fieldOf(path), note })
      else connect(target.key, own, { by: 'part' })
    }
  }
  return { nodes, needs, usedBy }
}

/** The references of a resource, if its kind has any. */
export function referencesOf(kinds: KindsRegistry, resource: StatedResource) {
  const { spec } = resource as unknown as CustomResource
  return kinds.managedKind(resource.kind)?.references.of(spec) ?? []
}

/** Nodes that nothing else of the graph needs, by kind in the order of `kinds`, then by name. */
export function rootsOf(graph: ResourceGraph, order: readonly string[]): readonly Node[] {
  const place = ({ kind }: Node): number => order.indexOf(kind)
  return [...graph.nodes.values()]
    .filter(({ key }) => (graph.usedBy.get(key) ?? []).length === 0)
    .sort((left, right) => place(left) - place(right) || (left.key < right.key ? -1 : 1))
}

function keyOf(name: ResourceName): string {
  return nameText(name)
}

/** `spec.ipRestriction.ipPolicyRefs[0]` → `ipRestriction`: for an edge, the module. */
function fieldOf(path: string): string {
  const [field = path] = path.replace(/^spec\./, '').split(/[.[]/)
  return field
}

function nodeFor(resource: StatedResource): Node {
  const { kind, namespace, name } = nameOf(resource)
  return { key: keyOf({ kind, namespace, name }), kind, namespace, name, id: idOf(resource), resource }
}

function missing({ kind, namespace, name }: ResourceName): Node {
  return { key: keyOf({ kind, namespace, name }), kind, namespace, name, id: undefined, resource: undefined }
}

function unmanaged(kind: string, id: string): Node {
  return { key: idKey(kind, id), kind, namespace: undefined, name: undefined, id, resource: undefined }
}

function idKey(kind: string, id: string): string {
  return `${kind}#${id}`
}

function idOf(resource: StatedResource): string | undefined {
  return statusOf(resource as unknown as CustomResource).id
}

function idEntries(resource: StatedResource): readonly (readonly [string, Node])[] {
  const id = idOf(resource)
  return id === undefined ? [] : [[idKey(resource.kind, id), nodeFor(resource)]]
}

/** A node with everything below it. */
export interface Branch {
  readonly node: Node
  /** The field by which the node above names it; undefined for a root. */
  readonly by: string | undefined
  readonly note?: string | undefined
  /** Whether the node was shown before, in this tree or one before; its branches are then left out. */
  readonly repeated: boolean
  readonly branches: readonly Branch[]
}

/** Which way a tree grows: to what a resource needs, or to what needs it. */
export type Direction = 'needs' | 'usedBy'

/** Trees from the roots. A node that was shown with its branches is not shown with them again, so that cycles end. */
export function branchesOf(graph: ResourceGraph, roots: readonly Node[], direction: Direction): readonly Branch[] {
  const shown = new Set<string>()
  const grow = (node: Node, edge: Pick<Branch, 'by' | 'note'>): Branch => {
    const next = (graph[direction].get(node.key) ?? []).flatMap(({ by, note, to }) => {
      const target = graph.nodes.get(to)
      return target === undefined ? [] : [{ edge: { by, note }, target }]
    })
    if (shown.has(node.key)) return { node, ...edge, repeated: next.length > 0, branches: [] }
    shown.add(node.key)
    return { node, ...edge, repeated: false, branches: next.map((each) => grow(each.target, each.edge)) }
  }
  return roots.map((root) => grow(root, { by: undefined }))
}

/** The branches that lead to a resource of which `isMeant` is true, without all others. */
export function branchesTo(trees: readonly Branch[], isMeant: (node: Node) => boolean): readonly Branch[] {
  const leading = new Set<string>()
  const keep = (branch: Branch): readonly Branch[] => {
    const branches = branch.branches.flatMap(keep)
    if (branches.length > 0 || isMeant(branch.node)) leading.add(branch.node.key)
    return leading.has(branch.node.key) ? [{ ...branch, branches }] : []
  }
  return trees.flatMap(keep)
}
