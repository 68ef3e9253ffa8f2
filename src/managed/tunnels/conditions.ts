import type { Failed } from '../composed/composition.ts'
import type { ConditionText } from '../descriptor/readiness.ts'
import { type Reason, reasons } from '../descriptor/reasons.ts'
import type { TunnelStatus } from '../descriptor/tunnel.ts'
import { conditionsFor } from '../run/conditions.ts'

/** How a reconcile of a Tunnel ended. */
export type Said =
  /** Everything is as the spec says. */
  | {
      readonly type: 'kept'
      readonly online: number
      readonly wanted: number
      readonly error: string | undefined
      /** What to do about another client that scales the Deployment; undefined if none does. */
      readonly contested?: string | undefined
    }
  | Failed

/** The conditions of a Tunnel. What its agents do does not change while Culvert cannot go on. */
export function conditionsOf(said: Said, before: TunnelStatus): readonly ConditionText[] {
  const is = (type: string, holds: boolean, reason: Reason, message: string): ConditionText => {
    return { type, status: holds ? 'True' : 'False', reason, message }
  }
  if (said.type !== 'kept') {
    const { reason, message } = said
    const state = {
      type: said.type === 'stalled' ? 'stalled' : 'progressing',
      reason,
      message,
      existing: true,
    } as const
    const isKnown = before.conditions?.some(({ type }) => type === 'Connected')
    return conditionsFor(
      state,
      before.conditions ?? [],
      isKnown ? undefined : [is('Connected', false, reason, message)],
    )
  }
  const { online, wanted, error, contested } = said
  const count = `${online} of ${wanted} agents are connected`
  const inSync = 'agents, key and credential match the spec'
  const synced = [
    is('Synced', contested === undefined, contested ? reasons.Contested : reasons.InSync, contested ?? inSync),
  ]
  if (online >= wanted) {
    if (contested !== undefined) synced.push(is('Reconciling', true, reasons.Contested, contested))
    return [is('Ready', true, reasons.Available, count), ...synced, is('Connected', true, reasons.Available, count)]
  }
  const why = error === undefined ? count : `${count}: ${error}`
  return [
    online > 0 ? is('Ready', true, reasons.Available, count) : is('Ready', false, reasons.NotConnected, why),
    ...synced,
    is('Connected', false, reasons.NotConnected, why),
    is('Reconciling', true, reasons.NotConnected, why),
  ]
}
