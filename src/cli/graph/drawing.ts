import { cut, printable } from '../../util/printable.ts'
import type { Style } from '../terminal/line.ts'
import type { Branch, Direction, Node } from '../tree/resource-graph.ts'
import { nodeState, nodeText } from '../tree/tree-lines.ts'

/** How well a resource is, as a drawing colours it. */
export type Look = 'well' | 'waiting' | 'failed' | 'unmanaged'

/** A box of a drawing. */
export interface Box {
  /** Letters and digits alone, unique in the drawing. */
  readonly id: string
  /** What it says, line by line: name, state, and what it waits for. As `printable` leaves it. */
  readonly lines: readonly string[]
  readonly look: Look
}

/** An arrow from a resource to one that it needs. */
export interface Arrow {
  readonly from: string
  readonly to: string
  /** The field of the spec with a weight or a place in an order; or addresses. */
  readonly label: string
}

/** Boxes and arrows, without their places. */
export interface Drawing {
  readonly boxes: readonly Box[]
  readonly arrows: readonly Arrow[]
}

/** Longest line in a box, and longest label. */
const LINE_LENGTH = 60
/** The box of those who connect, from which an arrow with the addresses leads to what serves them. */
const CLIENTS = 'Clients'

/**
 * The drawing of trees. Every resource has one box, however often the trees show it, and every arrow leads to what is
 * needed, whichever way the trees grow.
 *
 * @param addressesOf where clients reach what a resource serves
 * @param namespace the one whose names need no namespace; undefined: all names are in full
 */
export function drawingOf(
  trees: readonly Branch[],
  direction: Direction,
  namespace: string | undefined,
  addressesOf: (node: Node) => readonly string[],
): Drawing {
  const boxes = new Map<string, Box>()
  const arrows: Arrow[] = []
  const boxFor = (key: string, make: (id: string) => Box): Box => {
    const box = boxes.get(key) ?? make(`n${boxes.size + 1}`)
    boxes.set(key, box)
    return box
  }
  const draw = ({ node, branches }: Branch): Box => {
    const box = boxFor(node.key, (id) => boxOf(node, id, namespace))
    for (const branch of branches) {
      const other = draw(branch)
      const [from, to] = direction === 'needs' ? [box, other] : [other, box]
      const { by = '', note } = branch
      arrows.push({ from: from.id, to: to.id, label: printable(note === undefined ? by : `${by}: ${note}`) })
    }
    return box
  }
  for (const tree of trees) {
    const box = draw(tree)
    const addresses = direction === 'needs' && tree.branches.length > 0 ? addressesOf(tree.node) : []
    if (addresses.length === 0) continue
    const { id: from } = boxFor(CLIENTS, (id) => ({ id, lines: [CLIENTS], look: 'unmanaged' }))
    arrows.push({ from, to: box.id, label: cut(printable(addresses.join(', ')), LINE_LENGTH) })
  }
  return { boxes: [...boxes.values()], arrows }
}

function boxOf(node: Branch['node'], id: string, namespace: string | undefined): Box {
  const { word, style, message } = nodeState(node)
  const lines = [nodeText(node, namespace), word, ...(message === undefined ? [] : [message])]
  return { id, lines: lines.map((line) => cut(printable(line), LINE_LENGTH)), look: lookOf(style) }
}

function lookOf(style: Style): Look {
  switch (style) {
    case 'green':
      return 'well'
    case 'red':
      return 'failed'
    case 'dim':
      return 'unmanaged'
    default:
      return 'waiting'
  }
}

/** Colours of a box. */
export interface Colours {
  readonly fill: string
  readonly line: string
}

/** The colours of each look; all are readable under black text. */
const COLOURS: Readonly<Record<Look, Colours>> = {
  well: { fill: '#dcfce7', line: '#15803d' },
  waiting: { fill: '#fef9c3', line: '#a16207' },
  failed: { fill: '#fee2e2', line: '#b91c1c' },
  unmanaged: { fill: '#f3f4f6', line: '#6b7280' },
}

/** A drawing in the language of Graphviz. */
export function dotOf({ boxes, arrows }: Drawing): string {
  return [
    'digraph culvert {',
    '  rankdir=LR',
    '  node [shape=box style="rounded,filled" fontname="Helvetica" fontsize=11]',
    '  edge [fontname="Helvetica" fontsize=10 color="#6b7280"]',
    ...boxes.map(({ id, lines, look }) => {
      const { fill, line } = COLOURS[look]
      return `  ${id} [label=${quoted(lines)} fillcolor="${fill}" color="${line}"]`
    }),
    ...arrows.map(({ from, to, label }) => `  ${from} -> ${to} [label=${quoted([label])}]`),
    '}',
  ].join('\n')
}

/** Graphviz reads escapes and HTML entities in a quoted label. */
function quoted(lines: readonly string[]): string {
  const escaped = lines.map((line) => {
    return line.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('&', '&amp;')
  })
  return `"${escaped.join('\\n')}"`
}

/** A drawing in the language of Mermaid, which GitHub and GitLab show in Markdown. */
export function mermaidOf({ boxes, arrows }: Drawing): string {
  return [
    'flowchart LR',
    ...boxes.map(({ id, lines, look }) => `  ${id}["${lines.map(escaped).join('<br/>')}"]:::${look}`),
    ...arrows.map(({ from, to, label }) => `  ${from} -->|"${escaped(label)}"| ${to}`),
    ...Object.entries(COLOURS).map(([look, { fill, line }]) => {
      return `  classDef ${look} fill:${fill},stroke:${line},color:#000`
    }),
  ].join('\n')
}

/** Mermaid reads quotes, Markdown, HTML and entities in a label: whatever could be one is written as its code point. */
function escaped(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N} ./:,()-]/gu, (character) => `#${character.codePointAt(0)};`)
}
