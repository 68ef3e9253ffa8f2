import type { Reflector } from '../../runtime/reflector.ts'
import { nameOf, type ResourceName } from '../cr.ts'
import type { CommandResource } from './command.ts'

/** Has a command looked at when it appears and when somebody else changes it. */
export function subscribeCommands(
  store: { readonly recording: boolean },
  commands: ReadonlyMap<string, Reflector<CommandResource>>,
  wake: (name: ResourceName) => void,
): void {
  for (const reflector of commands.values()) {
    reflector.subscribe(({ object }) => {
      if (!store.recording) wake(nameOf(object))
    })
  }
}
