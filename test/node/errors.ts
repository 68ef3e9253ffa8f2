/** Errors of a node. */
export type NodeErrorCode = 'BUILD_FAILED' | 'NOT_ROOT' | 'START_FAILED' | 'COMMAND_FAILED'

/** A node could not be built, started or reached. */
export class NodeError extends Error {
  readonly code: NodeErrorCode

  constructor(code: NodeErrorCode, message: string) {
    super(message)
    this.name = 'NodeError'
    this.code = code
  }
}
