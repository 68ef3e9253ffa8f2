import { generationOf, statusOf } from '../cr.ts'
import { compareFingerprints } from '../inputs/fingerprints.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import { markerText, type Wanted } from './desired.ts'
import { type Observed, type Operation, type PlanContext, plan } from './plan.ts'

/** The writes that are still needed, as far as this run knows. */
export function planFor(run: Reconciliation, wanted: Wanted, observed: Observed): readonly Operation[] {
  return plan(run.descriptor, wanted.desired, observed, planContextOf(run, wanted))
}

/** Inputs of this run's plans besides spec and object. */
export function planContextOf(run: Reconciliation, wanted: Wanted): PlanContext {
  const { internal, status } = run
  const nonce = internal.create?.nonce
  return {
    // An adopted object keeps the metadata of others, unless the spec says otherwise.
    markedMetadata:
      nonce === undefined || status.adopted ? undefined : markerText(run.context, run.cr, nonce, run.cr.spec.metadata),
    inputsChanged: haveInputsChanged(run, wanted),
    chosen: internal.chosen,
  }
}

/** Whether the inputs may differ from those last sent. */
function haveInputsChanged({ cr, internal }: Reconciliation, { inputs }: Wanted): boolean {
  const compared = compareFingerprints(internal.inputsFingerprint, inputs.fingerprint)
  // Fingerprints made with different salts cannot be compared: nothing is sent again for that, unless a new spec may
  // name other inputs.
  return compared === 'unknown' ? statusOf(cr).observedGeneration !== generationOf(cr) : compared === 'different'
}
