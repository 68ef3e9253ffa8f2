/** A text as a CEL literal. */
export function text(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`
}

/** Texts as a CEL list, each once, in a fixed order. */
export function list(values: readonly string[]): string {
  return `[${[...new Set(values)].sort().map(text).join(', ')}]`
}
