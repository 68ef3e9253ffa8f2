import { errorOf } from '../accounts/account-choice.ts'
import { type CustomResource, internalOf } from '../cr.ts'
import type { CommonSpec } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { Desired } from '../descriptor/desired.ts'
import type { InternalStatus } from '../descriptor/internal.ts'
import { metadataProblems, type OwnMetadata, rawMetadataProblems } from '../descriptor/metadata.ts'
import { formatMarker } from '../identity/marker.ts'
import { type Inputs, readInputs } from '../inputs/inputs.ts'
import type { ManagedContext } from '../reconcile/context.ts'
import { TerminalError } from '../reconcile/errors.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import type { SentReference } from '../references/crossings.ts'
import { goneReferences } from '../references/gone-references.ts'
import { checkNamedValues, refuseNamedValues } from '../references/named-values.ts'
import { refuseUse } from '../references/reach.ts'
import { type ResolvedReferences, resolveReferences } from '../references/resolve.ts'
import { reasons } from '../status/reasons.ts'
import { decider } from './left-alone.ts'

/** The wanted state of a CR, with its references and inputs resolved. */
export interface Wanted {
  readonly desired: Desired<CommonSpec>
  readonly references: ResolvedReferences
  readonly inputs: Inputs
}

/**
 * Checks the spec and resolves references and inputs.
 * @throws TerminalError if the spec cannot work; WaitError if something that it names does not exist yet.
 */
export async function resolveWanted(run: Reconciliation): Promise<Wanted> {
  const { context, descriptor, cr, session } = run
  refuseProblems(descriptor, cr)
  for (const { path, id } of descriptor.references.foreignIds?.(cr.spec) ?? []) {
    refuseUse(session, cr.metadata.namespace, undefined, { path, id, asked: 'Reference' })
  }
  await checkNamedValues(run)
  const references = confirmingValues(run, await resolveReferences(context, descriptor, cr, session))
  const inputs = await readInputs(context, descriptor, cr)
  const gone = await goneReferences(run, references)
  const desired: Desired<CommonSpec> = {
    spec: cr.spec,
    // Read on access: the status gains fields during the run.
    get status() {
      return run.status
    },
    resolves: (kind, ref) => references.has(kind, ref),
    id: (kind, ref) => references.get(kind, ref).id,
    target: (kind, ref) => references.get(kind, ref),
    isGone: (kind, ref) => gone.has(references.get(kind, ref).id),
    input: (source, ref) => inputs.get(source, ref),
    decides: decider(descriptor, cr, () => run.status),
    now: context.clock.now(),
    marker: (nonce, metadata) => markerText(context, cr, nonce, metadata),
  }
  const blocked = session.refusal(descriptor.needs?.(cr.spec, desired) ?? {})
  if (blocked !== undefined) throw errorOf(blocked, false)
  const problems = [...(descriptor.inputs?.problems?.(desired) ?? []), ...inputs.problems]
  if (problems.length > 0) throw new TerminalError(reasons.InvalidInput, problems.join('; '))
  return { desired, references, inputs }
}

/** Another resource may have reserved the value since it was checked. */
function confirmingValues(run: Reconciliation, references: ResolvedReferences): ResolvedReferences {
  const confirm = (): void => {
    references.confirm()
    refuseNamedValues(run)
  }
  return { ...references, confirm }
}

/** Notes what was sent with the last write: it is stored together with the result. */
export function noteSent(run: Reconciliation, { inputs, references }: Wanted): void {
  const { applied } = references
  run.noteInternal({
    inputsFingerprint: inputs.fingerprint,
    references: applied.length === 0 ? undefined : applied,
  })
}

/**
 * The part of `status.internal` that must be durable before a write that drops references: those that the object has
 * before and after it. Whether a write took place is unknown until its result is stored, and an edge that may have lost
 * an IP policy must not count as restricted by it. Empty if the write drops none.
 */
export function referencesKept({ cr }: Reconciliation, { references: { applied } }: Wanted): InternalStatus {
  const { references = [] } = internalOf(cr)
  const kept = references.filter((sent) => applied.some((next) => isSameTarget(sent, next)))
  return kept.length === references.length ? {} : { references: kept }
}

function isSameTarget(left: SentReference, right: SentReference): boolean {
  const isNamed = left.name !== undefined || right.name !== undefined
  const isSame = isNamed ? left.name === right.name && left.namespace === right.namespace : left.id === right.id
  return left.kind === right.kind && isSame
}

/** The marker of this CR's objects for `nonce`, as a metadata string, together with the user's own keys. */
export function markerText(context: ManagedContext, cr: CustomResource, nonce: string, metadata?: OwnMetadata): string {
  const { name, namespace = '', uid } = cr.metadata
  return formatMarker({ installation: context.installation, kind: cr.kind, namespace, name, uid, nonce }, metadata)
}

function refuseProblems(descriptor: ManagedDescriptor, cr: CustomResource): void {
  const { metadata, rawMetadata } = cr.spec
  const problems = [
    ...descriptor.problems(cr.spec),
    ...metadataProblems('spec.metadata', metadata),
    ...rawMetadataProblems('spec.rawMetadata', rawMetadata),
  ]
  if (problems.length > 0) throw new TerminalError(reasons.InvalidSpec, problems.join('; '))
}
