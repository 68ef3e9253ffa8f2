import { cut, escaped } from '../../util/printable.ts'
import { type ResourceState, type StatedResource, sidesOf, stateOf } from '../cluster/resource-state.ts'
import type { Line, Style } from '../terminal/line.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { Branch, Node } from './resource-graph.ts'

/** The words for the states of resources. */
export const STATES = ['Ready', 'NotInSync', 'Waiting', 'Stalled', 'Paused', 'Deleting', 'Unseen'] as const

/** The state of a node in a word, and what it waits for. */
export interface NodeState {
  readonly word: (typeof STATES)[number] | 'Deleted' | 'Missing' | 'Unmanaged'
  readonly style: Style
  /** What it waits for, or what is wrong; undefined while all is well. */
  readonly message: string | undefined
}

/** How a node is, with what its conditions say is wrong although it is Ready. */
export function nodeState(node: Pick<Node, 'name' | 'resource'>): NodeState {
  const state = syncState(node)
  const side = node.resource && state.style === 'green' ? sideMessage(node.resource) : undefined
  return side === undefined ? state : { ...state, style: 'yellow', message: side }
}

/** How far a node is in sync, regardless of what happens to its traffic. */
export function syncState({ name, resource }: Pick<Node, 'name' | 'resource'>): NodeState {
  if (resource === undefined) {
    return name === undefined
      ? { word: 'Unmanaged', style: 'dim', message: 'no resource shown here manages this object' }
      : { word: 'Missing', style: 'red', message: 'there is no such resource' }
  }
  const state = stateOf(resource)
  const { word, style } = wordFor(state)
  const isWell = state.phase === 'current' && GOOD.has(state.reason)
  return { word, style, message: isWell ? undefined : `${state.reason}: ${state.message}` }
}

const GOOD: ReadonlySet<string> = new Set(['Available', 'AllDone'])

function wordFor({ phase, reason }: ResourceState): Pick<NodeState, 'word' | 'style'> {
  switch (phase) {
    case 'current':
      return GOOD.has(reason) ? { word: 'Ready', style: 'green' } : { word: 'NotInSync', style: 'yellow' }
    case 'inProgress':
      return { word: 'Waiting', style: 'yellow' }
    case 'stalled':
      return { word: 'Stalled', style: 'red' }
    case 'paused':
      return { word: 'Paused', style: 'yellow' }
    case 'deleting':
      return { word: 'Deleting', style: 'yellow' }
    case 'unseen':
      return { word: 'Unseen', style: 'yellow' }
  }
}

/** A condition of the kind that is false, such as a group without tunnels. */
function sideMessage(resource: StatedResource): string | undefined {
  const [side] = sidesOf(resource)
  return side === undefined ? undefined : `${side.reason}: ${side.message}`
}

/** Space for the state and the beginning of a message, next to a long name. */
const LEAST_STATE = 24

/** Lines of trees: a resource each, with its state and what it waits for. `namespace`: names of others are in full. */
export function treeLines(
  trees: readonly Branch[],
  { width }: Pick<Terminal, 'width'>,
  namespace: string | undefined,
): readonly Line[] {
  const rows = trees.flatMap((tree) => rowsOf(tree, '', '', namespace))
  const widest = Math.max(0, ...rows.map(({ left }) => left.length))
  const column = Math.min(widest, width - LEAST_STATE)
  return rows.map(({ left, state, repeated }) => {
    const name = cut(left, column).padEnd(column)
    const room = width - column - 2
    const word = state.word.slice(0, room)
    const rest = repeated ? '(shown above)' : escaped(state.message ?? '')
    const message = cut(rest, Math.max(0, room - word.length - 2))
    return [`${name}  `, { text: word, style: state.style }, message === '' ? '' : `  ${message}`]
  })
}

interface Row {
  readonly left: string
  readonly state: NodeState
  readonly repeated: boolean
}

function rowsOf(
  { node, by, repeated, branches }: Branch,
  lead: string,
  indent: string,
  namespace: string | undefined,
): readonly Row[] {
  const field = by === undefined ? '' : `${by}: `
  const own = { left: escaped(`${lead}${field}${nodeText(node, namespace)}`), state: nodeState(node), repeated }
  const below = branches.flatMap((branch, index) => {
    const isLast = index === branches.length - 1
    return rowsOf(branch, `${indent}${isLast ? '└─ ' : '├─ '}`, `${indent}${isLast ? '   ' : '│  '}`, namespace)
  })
  return [own, ...below]
}

/** `Edge/shop`, with its namespace where that is not the one that is shown. */
export function nodeText({ kind, namespace, name, id }: Node, shown: string | undefined): string {
  if (name === undefined) return `${kind} ${id}`
  return namespace === undefined || namespace === shown ? `${kind}/${name}` : `${kind} ${namespace}/${name}`
}
