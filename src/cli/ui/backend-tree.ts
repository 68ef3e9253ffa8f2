import type { BackendSpec } from '../../kinds/backend/backend-schema.ts'
import { shortName } from '../../managed/cr.ts'
import type { Ref } from '../../managed/descriptor/common.ts'
import { referredName } from '../../managed/references/crossings.ts'
import { ownField } from '../../util/json.ts'
import { counted } from '../../util/printable.ts'
import { type StatedResource, sidesOf } from '../cluster/resource-state.ts'
import { asResource } from './live-resources.ts'

/** Finds a backend by its reference in a resource. */
export type FindBackend = (from: StatedResource, ref: Ref) => StatedResource | undefined

/** Whether connections are served, as far as resources show. */
export type Serves = 'yes' | 'no' | 'unknown'

/** A backend with those below it. */
export interface BackendNode {
  /** `Backend/web`, or its id. */
  readonly name: string
  /** Its weight in percent, or its place in the order; empty for the first. */
  readonly label: string
  /** Undefined: no resource that is shown. */
  readonly resource: StatedResource | undefined
  /** What it does, without its name: `2 tunnels online`. */
  readonly text: string
  readonly serves: Serves
  /** Since when it does not serve, if its conditions say so. */
  readonly since: string | undefined
  readonly children: readonly BackendNode[]
}

/** What is said of a backend none of whose children receives traffic. */
export const NO_WEIGHT = 'all weights are 0'

/** What is said of a backend that does not exist. */
export const MISSING = 'there is no such resource'

/** Backends can be nested; the API refuses cycles, and what resources say may contain some for a moment. */
const DEEPEST = 8

/** The backends behind a reference. */
export function backendTree(find: FindBackend, from: StatedResource, ref: Ref, label = '', depth = 0): BackendNode {
  const resource = find(from, ref)
  const name = ref.id ?? placedName(from, ref)
  if (resource === undefined || depth > DEEPEST) {
    const isHere = (ref.namespace ?? from.metadata.namespace) === from.metadata.namespace
    const text =
      ref.id === undefined && isHere && resource === undefined ? MISSING : 'not among the resources shown here'
    return { name, label, resource: undefined, text, serves: 'unknown', since: undefined, children: [] }
  }
  const node = { name, label, resource, since: sidesOf(resource)[0]?.lastTransitionTime }
  const spec = resource.spec as BackendSpec
  switch (spec.type) {
    case 'TunnelGroup': {
      const count = ownField(resource.status, 'tunnelCount')
      if (typeof count !== 'number')
        return { ...node, text: 'tunnels not reported yet', serves: 'unknown', children: [] }
      const text = count === 0 ? 'no tunnel online' : `${counted(count, 'tunnel')} online`
      return { ...node, text, serves: count === 0 ? 'no' : 'yes', children: [] }
    }
    case 'HTTPResponse': {
      const text = `a fixed response with status ${spec.httpResponse?.statusCode ?? 200}`
      return { ...node, text, serves: 'yes', children: [] }
    }
    case 'Weighted': {
      const refs = spec.weighted?.backendRefs ?? []
      const total = refs.reduce((sum, { weight }) => sum + weight, 0)
      const children = refs.map(({ weight, ...child }) => {
        const share = total === 0 ? 0 : Number(((100 * weight) / total).toFixed(1))
        return backendTree(find, resource, child, `${share} %`, depth + 1)
      })
      if (total === 0) return { ...node, text: NO_WEIGHT, serves: 'no', children }
      const drawn = children.filter((_, index) => (refs[index]?.weight ?? 0) > 0)
      return { ...node, text: 'divided by weight', serves: oneOf(drawn), children }
    }
    case 'Failover': {
      const refs = spec.failover?.backendRefs ?? []
      const children = refs.map((child, index) => backendTree(find, resource, child, `${index + 1}.`, depth + 1))
      return { ...node, text: 'the first that is available', serves: oneOf(children), children }
    }
  }
}

function oneOf(children: readonly BackendNode[]): Serves {
  if (children.some(({ serves }) => serves === 'yes')) return 'yes'
  return children.some(({ serves }) => serves === 'unknown') ? 'unknown' : 'no'
}

function placedName(from: StatedResource, ref: Ref): string {
  const { namespace, name } = referredName(asResource(from), { kind: 'Backend', ref })
  const short = shortName({ kind: 'Backend', name })
  return namespace === from.metadata.namespace ? short : `${short} in namespace ${namespace}`
}

/** The node and all below it, with their depths. */
export function* flattened(
  node: BackendNode,
  depth = 0,
): Generator<{ readonly node: BackendNode; readonly depth: number }> {
  yield { node, depth }
  for (const child of node.children) yield* flattened(child, depth + 1)
}

/** Who answers, in a few words: what the leaves do that may answer. */
export function answerText(tree: BackendNode): string {
  const leaves = [...flattened(tree)].filter(({ node }) => node.children.length === 0).map(({ node }) => node)
  if (tree.serves === 'no') return leaves.length === 1 ? `nobody: ${tree.text}` : 'nobody'
  const able = leaves.filter(({ serves, label }) => serves !== 'no' && label !== '0 %')
  return [...new Set(able.map(({ text, serves, name }) => (serves === 'unknown' ? name : text)))].join(', or ')
}
