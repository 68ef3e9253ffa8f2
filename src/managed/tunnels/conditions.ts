import { KubeError } from '../../kube/kube-error.ts'
import type { ConditionText } from '../descriptor/status.ts'
import type { TunnelStatus } from '../descriptor/tunnel.ts'
import { TerminalError, WaitError } from '../reconcile/errors.ts'
import { type Reason, reasons } from '../status/reasons.ts'
import { kubeReason } from '../status/result.ts'

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
  /** Something has to happen first. */
  | { readonly type: 'waiting'; readonly reason: Reason; readonly message: string }
  /** Lasts until a person changes something. */
  | { readonly type: 'stalled'; readonly reason: Reason; readonly message: string }

/** The conditions of a Tunnel. What its agents do does not change while Culvert cannot go on. */
export function conditionsOf(said: Said, before: TunnelStatus): readonly ConditionText[] {
  const is = (type: string, holds: boolean, reason: Reason, message: string): ConditionText => {
    return { type, status: holds ? 'True' : 'False', reason, message }
  }
  if (said.type !== 'kept') {
    const { reason, message } = said
    const kept = before.conditions?.filter(
      ({ type, status }) => type === 'Connected' || (type === 'Ready' && status === 'True'),
    )
    const isKept = (type: string): boolean => kept?.some((condition) => condition.type === type) ?? false
    return [
      ...(kept ?? []),
      ...(isKept('Ready') ? [] : [is('Ready', false, reason, message)]),
      ...(isKept('Connected') ? [] : [is('Connected', false, reason, message)]),
      is('Synced', false, reason, message),
      is(said.type === 'stalled' ? 'Stalled' : 'Reconciling', true, reason, message),
    ]
  }
  const { online, wanted, error, contested } = said
  const count = `${online} of ${wanted} agents are connected`
  const inSync = 'agents, key and credential are as the spec says'
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

/** Until what lasts is tried again. What mends it wakes its owner; this is only the fallback. */
export const LASTING_MS = 600_000

/** What a failure says in the conditions; undefined for one that is not worth a write. */
export function saidOf(error: unknown): Exclude<Said, { readonly type: 'kept' }> | undefined {
  if (error instanceof WaitError) return { type: 'waiting', reason: error.code, message: error.message }
  if (error instanceof TerminalError) return { type: 'stalled', reason: error.code, message: error.message }
  if (!(error instanceof KubeError) || error.code === 'NotLeader' || error.code === 'Aborted') return undefined
  return { type: error.isRefusedWrite ? 'stalled' : 'waiting', reason: kubeReason(error), message: error.message }
}
