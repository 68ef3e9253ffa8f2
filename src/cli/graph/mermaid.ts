import { COLOURS, type Drawing } from './drawing.ts'

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
