/** A text that kubectl refuses as YAML or JSON. The message says why, without the text itself. */
export class YamlError extends Error {
  override readonly name = 'YamlError'
  readonly code = 'YAML_UNREADABLE'
  /** Line of the problem, from 1, counted from the start of the text that was read. */
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}
