import { markerText, type Wanted } from './desired.ts'
import { type Observed, type Operation, type PlanContext, plan } from './plan.ts'
import type { Reconciliation } from './reconciliation.ts'
import type { Fields } from './types/descriptor.ts'
import type { Verdict } from './verdict.ts'

/** The writes that are left to do, by what this run knows. */
export function planFor(run: Reconciliation, wanted: Wanted, observed: Observed): readonly Operation[] {
  const { status } = run
  const nonce = status.create?.nonce
  const planContext: PlanContext = {
    // What others wrote into an adopted object stays, unless the spec says otherwise.
    defaultMetadata: nonce === undefined || status.adopted ? undefined : markerText(run.context, run.cr, nonce),
    inputsChanged: wanted.inputs.fingerprint !== status.inputsFingerprint,
  }
  return plan(run.descriptor, wanted.desired, observed, planContext)
}

/** Status fields of the kind. */
export function kindStatus({ cr, descriptor, status }: Reconciliation, { remote, children }: Observed): Fields {
  const previous = { ...status, ...descriptor.intent(cr.spec, status) }
  return { ...descriptor.status(remote, previous), ...descriptor.children?.status(children) }
}

/** Status of the kind and the verdict, from an object that equals the spec. */
export function conclude(run: Reconciliation, observed: Observed): Verdict {
  const { context, cr, descriptor, memory } = run
  const { remote } = observed
  run.noteKind(kindStatus(run, observed))
  const readiness = descriptor.readiness({ spec: cr.spec, remote, now: context.clock.now() })
  const { ready, reason, message, stalled = false, conditions, lookAgainMs } = readiness
  memory.lookAt = lookAgainMs === undefined ? undefined : context.clock.monotonic() + lookAgainMs
  return {
    standing: ready ? { type: 'ready', message } : { type: 'synced', reason, message, stalled },
    conditions: conditions ?? [],
    outcome: lookAgainMs === undefined ? { type: 'done' } : { type: 'after', ms: lookAgainMs, reason, lane: 'poll' },
  }
}
