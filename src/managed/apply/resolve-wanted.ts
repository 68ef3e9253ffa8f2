import { type CustomResource, internalOf } from '../cr.ts'
import type { CommonSpec } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { Desired } from '../descriptor/desired.ts'
import { metadataProblems, rawMetadataProblems } from '../descriptor/metadata.ts'
import { reasons } from '../descriptor/reasons.ts'
import { searchFor } from '../identity/read-object.ts'
import { readInputs } from '../inputs/inputs.ts'
import { decider } from '../plan/left-alone.ts'
import { markerText, type Wanted } from '../plan/wanted.ts'
import { errorOf } from '../references/account-choice.ts'
import { checkNamedValues, refuseNamedValues } from '../references/named-values.ts'
import { refuseUse } from '../references/reach.ts'
import { type ResolvedReferences, resolveReferences } from '../references/resolve.ts'
import { TerminalError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'

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
  const references = recheckingValues(run, await resolveReferences(context, descriptor, cr, session))
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
function recheckingValues(run: Reconciliation, references: ResolvedReferences): ResolvedReferences {
  const recheck = (): void => {
    references.recheck()
    refuseNamedValues(run)
  }
  return { ...references, recheck }
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

/**
 * Ids of references that were applied before and whose objects no longer exist, of kinds whose ids an object may keep
 * (`ReferenceKind.outlives`). Only computed if the object has other ids of that kind than the spec wants: then the
 * whole list is sent, and the API would refuse such an id.
 * @throws WaitError until lists have confirmed it
 */
async function goneReferences(
  run: Reconciliation,
  { applied }: Pick<ResolvedReferences, 'applied'>,
): Promise<ReadonlySet<string>> {
  const { cr, descriptor, session } = run
  const gone = new Set<string>()
  const { id: own } = run.status
  const object = own === undefined ? undefined : session.cache.get(run.collection, own)?.object
  if (object === undefined) return gone
  const before = internalOf(cr).references ?? []
  for (const { kind, outlives = false, idsIn } of descriptor.references.kinds) {
    if (!outlives) continue
    const wanted = applied.filter((each) => each.kind === kind).map(({ id }) => id)
    if (isSame(wanted, idsIn(object))) continue
    for (const id of wanted) {
      const wasApplied = before.some((each) => each.kind === kind && each.id === id)
      if (wasApplied && (await isMissing(run, kind, id))) gone.add(id)
    }
  }
  return gone
}

async function isMissing(run: Reconciliation, kind: string, id: string): Promise<boolean> {
  const { cache } = run.session
  for (const collection of run.context.kinds.collectionsOf(kind)) {
    // Nothing can be shown to be gone there: the id is sent, and the API refuses it if need be.
    if (cache.refusalOf(collection) !== undefined) return false
    await cache.ensureListed(collection)
    const object = cache.get(collection, id)?.object ?? (await searchFor(run, collection, id))
    if (object !== undefined) return false
  }
  return true
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  const [one, other] = [new Set(left), new Set(right)]
  return one.size === other.size && [...one].every((id) => other.has(id))
}
