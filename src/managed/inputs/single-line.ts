import type { InputSource, KeyRef } from '../descriptor/common.ts'

/** As `kubectl create secret --from-file` keeps it of a file that an editor or `echo` wrote. */
const LINE_END = /\r?\n$/

const CONTROL = /\p{Cc}/u

/** A value that has to be one line, without the line break (LF or CRLF) that most tools put at the end of a file. */
export function singleLine(value: string): string {
  return value.replace(LINE_END, '')
}

/**
 * What is wrong with a value that has to be one line: a control character in it, which no credential or key contains,
 * and with which it would be accepted and never work. Undefined if nothing is. Never quotes the value.
 */
export function singleLineProblem(value: string, source: InputSource, { name, key }: KeyRef): string | undefined {
  if (!CONTROL.test(singleLine(value))) return undefined
  return `key ${key} of ${source} ${name} contains a control character, such as a line break or a tab: store a single line`
}
