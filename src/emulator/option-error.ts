/** An option value that cannot be parsed. */
export class OptionError extends Error {
  readonly code = 'INVALID_OPTION'

  constructor(what: string, example: string) {
    super(`cannot read the ${what}; write it like ${example}`)
    this.name = 'OptionError'
  }
}
