import { dotOf } from './dot.ts'
import type { Drawing } from './drawing.ts'

/** A drawing as an SVG image, laid out by Graphviz in WebAssembly, which takes a moment to load. */
export async function svgOf(drawing: Drawing): Promise<string> {
  const { instance } = await import('@viz-js/viz')
  const graphviz = await instance()
  return graphviz.renderString(dotOf(drawing), { format: 'svg', engine: 'dot' }).trimEnd()
}
