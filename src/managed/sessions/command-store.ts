import { KubeError } from '../../kube/kube-error.ts'
import type { KubeClient, KubeObject, ResourceType } from '../../kube/types.ts'
import { equalJSON } from '../../util/json.ts'
import type { CommandStatus } from '../descriptor/command.ts'
import { ConflictError } from '../run/control-flow-errors.ts'
import { writeStatus } from '../run/merge-patch.ts'
import { type CommandResource, commandStatus } from './command-resource.ts'

const TRIES = 5

export interface CommandStore {
  readonly kube: Pick<KubeClient, 'get' | 'mergePatch'>
  /** Records the response to a write at once. */
  readonly record: (object: KubeObject) => void
}

/**
 * Stores `after` as the status of a command, on the version from which it was decided, and returns the CR with it. If
 * another client changed the CR meanwhile but not its targets, `after` is written to the newer version.
 * @throws ConflictError if another process wrote the targets: then nothing may be sent; KubeError otherwise.
 */
export async function storeCommand(
  { kube, record }: CommandStore,
  type: ResourceType,
  cr: CommandResource,
  after: CommandStatus,
): Promise<CommandResource> {
  const { namespace, name, uid } = cr.metadata
  let current = cr
  for (let attempt = 1; ; attempt++) {
    try {
      const written = await writeStatus(kube, type, current, after)
      if (written !== undefined) record(written)
      return written ?? current
    } catch (error) {
      if (!(error instanceof KubeError && error.code === 'Conflict')) throw error
      const live = await kube.get<CommandResource>(type, { namespace, name })
      if (live !== undefined) record(live)
      const untouched = equalJSON(commandStatus(live ?? cr).targets, commandStatus(cr).targets)
      if (live?.metadata.uid !== uid || !untouched || attempt >= TRIES) throw new ConflictError(error)
      current = live
    }
  }
}
