import type { KubeObject } from '../../kube/types.ts'
import type { CommandSpec, CommandStatus } from '../descriptor/command.ts'

/** A command as the watches have reported it. */
export interface CommandResource extends KubeObject {
  readonly spec: CommandSpec
  readonly status?: CommandStatus
}

export function commandStatus(cr: CommandResource): CommandStatus {
  return cr.status ?? {}
}
