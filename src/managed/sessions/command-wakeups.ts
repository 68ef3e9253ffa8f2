import { isOtherwise } from '../../runtime/replica.ts'
import { nameOf, type ResourceName } from '../cr.ts'
import type { CoreWatches } from '../store/watches.ts'
import { isFinished } from './command-progress.ts'
import { type CommandResource, commandStatus } from './command-resource.ts'
import type { SessionWatches } from './session-store.ts'

/**
 * Wakes a command when it appears and when another client changes it; and commands that are not over when an account,
 * or who may use it, changes.
 */
export function subscribeCommands(
  ownWrites: { readonly recording: boolean },
  { commands, accounts, namespaces }: Pick<CoreWatches, 'accounts' | 'namespaces'> & Pick<SessionWatches, 'commands'>,
  wake: (name: ResourceName) => void,
): void {
  const wakeOpen = (isConcerned: (cr: CommandResource) => boolean): void => {
    for (const reflector of commands.values()) {
      for (const cr of reflector.store.list()) if (!isFinished(commandStatus(cr)) && isConcerned(cr)) wake(nameOf(cr))
    }
  }
  for (const reflector of commands.values()) {
    reflector.subscribe(({ object }) => {
      if (!ownWrites.recording) wake(nameOf(object))
    })
  }
  for (const reflector of accounts.values()) {
    reflector.subscribe((event) => {
      const { namespace } = event.object.metadata
      if (isOtherwise(event, ({ spec }) => spec))
        wakeOpen((cr) => (namespace ?? cr.metadata.namespace) === cr.metadata.namespace)
    })
  }
  namespaces?.subscribe((event) => {
    const { name } = event.object.metadata
    if (isOtherwise(event, ({ metadata }) => metadata.labels)) wakeOpen((cr) => cr.metadata.namespace === name)
  })
}
