import type { RemoteObject } from '../../api/types.ts'
import { equalJSON } from '../../util/json.ts'
import { generationOf, internalOf, statusOf } from '../cr.ts'
import { compareFingerprints } from '../run/fingerprints.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { chosenByServer, type Observed, type Operation, type PlanContext, plan } from './plan.ts'
import { markerText, type Wanted } from './wanted.ts'

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

/**
 * The API has answered a write: a difference in a field that the write left open is the service's choice. It is
 * remembered until it is stored, since it cannot be told from a change by someone else later.
 */
export function recordChosen(run: Reconciliation, { desired }: Wanted, answer: RemoteObject): void {
  const chosen = chosenByServer(run.descriptor, desired, answer)
  run.memory.of(PlanMemory).chosen = { fields: chosen }
  run.recordInternal({ chosen })
}

/** Notes choices again that an earlier run saw and could not store. */
export function recallChosen(run: Reconciliation): void {
  const plan = run.memory.of(PlanMemory)
  if (plan.chosen === undefined) return
  if (equalJSON(plan.chosen.fields, internalOf(run.cr).chosen)) plan.chosen = undefined
  else run.recordInternal({ chosen: plan.chosen.fields })
}

/** Whether the inputs may differ from those last sent. */
function haveInputsChanged({ cr, internal }: Reconciliation, { inputs }: Wanted): boolean {
  const compared = compareFingerprints(internal.inputsFingerprint, inputs.fingerprint)
  // Fingerprints made with different salts cannot be compared: nothing is sent again for that, unless a new spec may
  // name other inputs.
  return compared === 'unknown' ? statusOf(cr).observedGeneration !== generationOf(cr) : compared === 'different'
}

/** What this process knows of the plans of one CR. */
export class PlanMemory {
  /** The service's choices in the last answered write, until they are stored as `internal.chosen`. */
  chosen?: { readonly fields: Readonly<Record<string, string>> | undefined } | undefined

  /** What the service chose does not depend on the CR. */
  rollBack(): void {}
}
