import { printable } from '../../util/printable.ts'

/**
 * `text` in lines of at most `width` characters, broken between words; a longer word has a line of its own. Spaces
 * within a line stay as they are. Lines after the first begin with `indent`.
 */
export function wrap(text: string, width: number, indent = ''): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const piece of printable(text)
    .trim()
    .match(/ *[^ ]+/g) ?? []) {
    if (line !== '' && line.length + piece.length > width) {
      lines.push(line)
      line = `${indent}${piece.trimStart()}`
    } else line += piece
  }
  return line === '' ? lines : [...lines, line]
}
