import { parseAst } from 'rolldown/parseAst'

/** The global where a process keeps its broken functions, by name. */
export const BROKEN = 'culvertBroken'

/**
 * The source with its exported functions of these names made replaceable: each looks up `BROKEN` when it is called.
 * Found in the syntax tree, whatever the text looks like. Undefined if the source exports none of them.
 */
export function withSeams(source: string, names: ReadonlySet<string>): string | undefined {
  // Most sources do not even mention them.
  if (![...names].some((name) => source.includes(name))) return undefined
  const ids = parseAst(source, { lang: 'ts' }).body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration') return []
    const { declaration } = statement
    return declaration?.type === 'FunctionDeclaration' && declaration.id != null ? [declaration.id] : []
  })
  const found = ids.filter(({ name }) => names.has(name))
  if (found.length === 0) return undefined
  let text = source
  for (const { end } of found.toReversed()) text = `${text.slice(0, end)}$original${text.slice(end)}`
  return [text, ...found.map(({ name }) => seamOf(name))].join('\n')
}

/** A function declaration is hoisted, so modules that import each other may call it at once, like the original. */
function seamOf(name: string): string {
  const broken = `globalThis.${BROKEN}?.get('${name}')?.(${name}$original)`
  return `export function ${name}(...args) { return (${broken} ?? ${name}$original)(...args) }`
}
