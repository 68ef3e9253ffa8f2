/** Why a command could not do what it was asked. */
export type CommandErrorCode =
  /** An argument or option makes no sense. */
  | 'BadArgument'
  /** No configuration of a cluster, or none that can be used. */
  | 'NoCluster'
  /** The cluster, or something in between, does not answer. */
  | 'Unreachable'
  /** The cluster does not know who is calling. */
  | 'Unauthorized'
  /** A right is missing. */
  | 'Forbidden'
  /** There is no such resource. */
  | 'NotFound'
  /** The CRDs of this version are not installed. */
  | 'NotInstalled'
  /** The API server refused or failed, for another reason. */
  | 'Refused'

/**
 * An error that a user can fix. The message names the object and the cause; no stack trace is printed.
 */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly code: CommandErrorCode
  /** One command that fixes it, or shows more. */
  readonly command: string | undefined

  constructor(code: CommandErrorCode, message: string, command?: string, options: ErrorOptions = {}) {
    super(message, options)
    this.code = code
    this.command = command
  }

  /** The lines for standard error. */
  get lines(): readonly string[] {
    const error = `error: ${this.message}`
    return this.command === undefined ? [error] : [error, `  ${this.command}`]
  }
}
