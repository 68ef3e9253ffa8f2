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

/** A drawing as an SVG image, laid out by Graphviz in WebAssembly, which takes a moment to load. */
export async function svgOf(drawing: Drawing): Promise<string> {
  const { instance } = await import('@viz-js/viz')
  const graphviz = await instance()
  return graphviz.renderString(dotOf(drawing), { format: 'svg', engine: 'dot' }).trimEnd()
}
