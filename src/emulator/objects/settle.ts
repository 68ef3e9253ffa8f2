import { announceUpdate } from '../events/announce.ts'
import { save } from './operations.ts'
import type { Services } from './write-context.ts'
import { WriteContext } from './write-context.ts'

/**
 * Applies everything that fell due up to now by the emulated clock, in order of time. Called before each request, so
 * that a caller always sees the current state. Nothing runs on timers, so moving the clock is enough to see the future.
 */
export function settle(services: Services): void {
  const { store, resources, clock } = services
  const now = clock.now()
  if (store.firstDue(now) === undefined) return
  store.transaction(() => {
    for (let due = store.firstDue(now); due !== undefined; due = store.firstDue(now)) {
      const resource = resources.byPath(due.collection)
      const object = store.get(due.account, due.collection, due.id)
      if (resource?.onDue === undefined || object === undefined) {
        store.setDue(due, undefined)
        continue
      }
      const context = new WriteContext(services, { account: due.account, keyId: '', ownerId: '', admin: false })
      const next = resource.onDue(object, due.at, context)
      save(resource, next, context)
      announceUpdate(resource, object, next, context, due.at)
    }
  })
}
