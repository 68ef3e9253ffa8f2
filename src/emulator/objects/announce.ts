import type { StoredObject } from '../store/database.ts'
import { rfc3339 } from '../values/json.ts'
import type { Resource } from './resource.ts'
import { render } from './view.ts'
import type { WriteContext } from './write-context.ts'

/** Version of every event type that the emulator fires (`management-api.md § Events`). */
const VERSION = 'v0'

type Change = 'created' | 'updated' | 'deleted'

/**
 * Fires the event of a change: records a delivery for each destination subscribed to its type. Must run in the change's
 * transaction, while the store still holds what the object refers to.
 *
 * @param at when it changed, in emulated milliseconds; now by default
 */
export function announce(
  change: Change,
  resource: Resource,
  object: StoredObject,
  context: WriteContext,
  at = context.now(),
): void {
  if (resource.eventName === null) return
  const { account } = context
  const { deliveries, ids } = context.services
  const type = `${resource.eventName}_${change}.${VERSION}`
  const routes = deliveries.routesOf(account, type)
  if (routes.length === 0) return
  const event = {
    event_id: ids.next('ev'),
    event_type: type,
    event_timestamp: rfc3339(at),
    object: render(resource, object, context.view),
  }
  for (const route of routes) {
    deliveries.add({ account, ...route, type, attempt: 1, outcome: 'delivered', at, event })
  }
}

/** Fires an update's event, unless the object did not change (`api-decisions.md § Behaviour`). */
export function announceUpdate(
  resource: Resource,
  before: StoredObject,
  next: StoredObject,
  context: WriteContext,
  at = context.now(),
): void {
  if (JSON.stringify(before) !== JSON.stringify(next)) announce('updated', resource, next, context, at)
}
