import { COLOURS, type Drawing } from './drawing.ts'

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
