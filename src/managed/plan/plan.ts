import type { RemoteObject } from '../../api/types.ts'
import { equalJSON } from '../../util/json.ts'
import type { CommonSpec, Fields } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { ChildOperation, Desired } from '../descriptor/desired.ts'
import { keptText, wantedMetadata } from '../descriptor/metadata.ts'
import { digestOfChoice, isChosen } from './chosen.ts'

/** Computes the writes that make a remote object match its spec. Pure: nothing here makes a call. */

/**
 * One write to the API. A plan is a list of these, executed in order; an empty plan means that there is nothing to do.
 */
export type Operation = ReplaceOperation | UpdateOperation | ({ readonly target: 'child' } & ChildOperation)

/** An update of the object itself. */
export interface UpdateOperation {
  readonly type: 'update'
  readonly body: Fields
  readonly fields: readonly string[]
  /** Bodies to send if the API refuses `body`, one after the other. */
  readonly alternatives: readonly Fields[]
}

/** Replaces the object by a new one, since these fields cannot be changed. Nothing else is planned beside it. */
export interface ReplaceOperation {
  readonly type: 'replace'
  readonly fields: readonly string[]
}

/** The state at the API from which a plan is made. */
export interface Observed {
  readonly remote: RemoteObject
  /** All children of the object, for kinds that have them. */
  readonly children: readonly RemoteObject[]
}

/** Inputs of a plan besides the spec and the remote object. */
export interface PlanContext {
  /**
   * Marker and own keys, as an object that Culvert created carries them; undefined for any other object, which gets no
   * marker.
   */
  readonly markedMetadata: string | undefined
  /** An input from a Secret or ConfigMap differs from the one last sent. */
  readonly inputsChanged: boolean
  /** The service's choices in fields that the spec leaves partly open, from `internal.chosen`. */
  readonly chosen?: Readonly<Record<string, string>> | undefined
}

/**
 * The body of the POST: every field that a create may carry. `metadata` (or the name, until the id is known) is the
 * marker with the user's own keys beside it (`management-api.md § Standard operations`). An absent field means the
 * API's default, so nulls are left out.
 * @param former the object to be replaced; fields left alone in it are copied
 */
export function planCreate<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  desired: Desired<Spec>,
  marker: string,
  former?: RemoteObject,
): Fields {
  const kept = former === undefined ? {} : leftAlone(descriptor, desired, former)
  const fields = without({ ...descriptor.fields.desire(desired, undefined), ...kept }, descriptor.fields.updateOnly)
  const description = desired.decides('description') ? desired.spec.description : former?.description
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)),
    ...(description && descriptor.identity.markedBy === 'metadata' ? { description } : {}),
    [descriptor.identity.markedBy]: marker,
  }
}

/** Fields of the former object that the spec does not decide, where they differ from what a new object would get. */
function leftAlone<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  desired: Desired<Spec>,
  former: RemoteObject,
): Fields {
  const wanted = descriptor.fields.comparable(descriptor.fields.desire(desired, former), former)
  const fresh = descriptor.rotation?.fresh ?? []
  const kept = Object.entries(descriptor.fields.observe(former)).filter(([field, value]) => {
    return !(desired.decides(field) || fresh.includes(field)) && !equalJSON(wanted[field], value)
  })
  return Object.fromEntries(kept)
}

/** The writes that make the remote object and its children match the spec. Pure; a dry run uses it too. */
export function plan<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  desired: Desired<Spec>,
  observed: Observed,
  context: PlanContext,
): readonly Operation[] {
  const replacement = planReplacement(descriptor, desired, observed.remote)
  if (replacement !== undefined) return [replacement]
  const update = planUpdate(descriptor, desired, observed.remote, context)
  const children =
    descriptor.children?.plan(desired, observed.remote.id, observed.children).map((operation) => {
      return { target: 'child' as const, ...operation }
    }) ?? []
  return update === undefined ? children : [update, ...children]
}

/** The replacement that is needed if a create-only field differs. */
export function planReplacement<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  desired: Desired<Spec>,
  remote: RemoteObject,
): ReplaceOperation | undefined {
  const { replacement } = descriptor
  if (replacement === undefined) return undefined
  const wanted = decided(desired, descriptor.fields.desire(desired, remote))
  const { differing } = compare(descriptor, wanted, remote)
  const fields = differing.filter((field) => replacement.fields.includes(field))
  return fields.length === 0 ? undefined : { type: 'replace', fields }
}

/**
 * `wanted` beside what the object has, both in the form in which they are compared, and the names of the fields that
 * differ. A field that is undefined in `wanted` is left alone, and so is one that only differs as the service has
 * chosen where the spec leaves a part open.
 */
function compare<Spec extends CommonSpec>(
  { fields }: ManagedDescriptor<Spec>,
  wanted: Fields,
  remote: RemoteObject,
  { chosen = {} }: Pick<PlanContext, 'chosen'> = {},
) {
  const found: Fields = {
    ...fields.observe(remote),
    description: remote.description ?? '',
    metadata: remote.metadata ?? '',
  }
  const comparable = fields.comparable(wanted, remote)
  const differing = Object.keys(wanted).filter((field) => {
    if (wanted[field] === undefined || equalJSON(comparable[field], found[field])) return false
    return chosen[field] === undefined || chosen[field] !== digestOfChoice(comparable[field], found[field])
  })
  return { found, comparable, differing }
}

/** The PATCH of the object itself; undefined if no field that can be changed differs. */
export function planUpdate<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  desired: Desired<Spec>,
  remote: RemoteObject,
  context: PlanContext,
): UpdateOperation | undefined {
  const wanted = without(wantedFields(descriptor, desired, remote, context), descriptor.fields.createOnly)
  const changed = new Set(compare(descriptor, wanted, remote, context).differing)
  const fields = Object.keys(wanted).filter((field) => {
    const resent = context.inputsChanged && descriptor.fields.secret.includes(field) && wanted[field] !== undefined
    return resent || changed.has(field)
  })
  if (fields.length === 0) return undefined
  const body = Object.fromEntries(fields.map((field) => [field, wanted[field]]))
  return { type: 'update', body, fields, alternatives: descriptor.fields.alternatives?.(body, remote) ?? [] }
}

/**
 * A field whose value at the API differs from the wanted one, in the form in which both are compared: without secrets.
 */
export interface FieldDifference {
  readonly field: string
  readonly found: unknown
  readonly wanted: unknown
}

/** How the object differs from the spec, in mutable and create-only fields, as far as the API returns them. */
export function differences<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  desired: Desired<Spec>,
  remote: RemoteObject,
  context: PlanContext,
): readonly FieldDifference[] {
  const wanted = wantedFields(descriptor, desired, remote, context)
  const { found, comparable, differing } = compare(descriptor, wanted, remote, context)
  return differing
    .filter((field) => found[field] !== undefined || !descriptor.fields.createOnly.includes(field))
    .map((field) => ({ field, found: found[field], wanted: comparable[field] }))
}

/** Every field that the spec decides, with its wanted value. */
function wantedFields<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  desired: Desired<Spec>,
  remote: RemoteObject,
  context: PlanContext,
): Fields {
  return {
    ...decided(desired, descriptor.fields.desire(desired, remote)),
    ...(descriptor.identity.markedBy === 'metadata' && {
      ...decided(desired, { description: keptText(desired.spec.description ?? '', remote.description ?? '') }),
      metadata: wantedMetadata(desired.spec, remote.metadata ?? '', context.markedMetadata),
    }),
  }
}

/**
 * The service's choices in the last write, in the form of `internal.chosen`: fields that differ from what was sent only
 * where that left them open. They are not drift as long as they stay the same.
 */
export function chosenByServer<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  desired: Desired<Spec>,
  remote: RemoteObject,
): Readonly<Record<string, string>> | undefined {
  if (descriptor.fields.open.length === 0) return undefined
  const wanted = decided(desired, descriptor.fields.desire(desired, remote))
  const { found, comparable, differing } = compare(descriptor, wanted, remote)
  const isLeft = (field: string): boolean => {
    const [sent, there] = [comparable[field], found[field]]
    return isChosen(sent, there) || descriptor.fields.mayStand?.(field, sent, there) === true
  }
  const chosen = differing
    .filter((field) => descriptor.fields.open.includes(field) && isLeft(field))
    .map((field) => [field, digestOfChoice(comparable[field], found[field])])
  return chosen.length === 0 ? undefined : Object.fromEntries(chosen)
}

/** The fields that the spec decides. */
export function decided(desired: Pick<Desired<unknown>, 'decides'>, fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => desired.decides(field)))
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
}
