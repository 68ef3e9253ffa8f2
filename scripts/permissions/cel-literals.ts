/** A text as a CEL literal. */
export function text(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`
}

/** Texts as a CEL list, each once, in a fixed order. */
export function list(values: readonly string[]): string {
  return `[${[...new Set(values)].sort().map(text).join(', ')}]`
}

/** Whether a text is one of a list of patterns, each whole or with a `*` at the end, as CEL. */
export function isAmong(value: string, patterns: string): string {
  return `${patterns}.exists(pattern, pattern.endsWith('*') ? ${value}.startsWith(pattern.substring(0, pattern.size() - 1)) : ${value} == pattern)`
}
