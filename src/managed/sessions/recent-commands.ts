import type { Action } from '../descriptor/command.ts'
import { isOver } from './command-progress.ts'

interface Recent {
  readonly id: string
  readonly action: Action
}

/**
 * The actions that this process has sent and that others may have to wait for, also once their commands are deleted:
 * then nothing else tells of them.
 */
export class RecentActions {
  /** By command, target and action. */
  readonly #actions = new Map<string, Recent>()

  /** Replaces what was noted under the same key. `now`: wall time in milliseconds. */
  note(key: string, recent: Recent, now: number): void {
    for (const [each, { action }] of this.#actions) if (isOver(action, now)) this.#actions.delete(each)
    this.#actions.set(key, recent)
  }

  /** Actions of that name on the target of that id, in any account: ids of two accounts are hardly ever the same. */
  on(id: string, name: string): readonly Action[] {
    const all = [...this.#actions.values()]
    return all.filter((each) => each.id === id && each.action.action === name).map(({ action }) => action)
  }
}
