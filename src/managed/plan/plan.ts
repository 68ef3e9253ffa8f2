import type { RemoteObject } from '../../api/types.ts'
import { equalJSON } from '../../util/equal-json.ts'
import type { CommonSpec } from '../descriptor/common.ts'
import type { ChildOperation, Desired, Fields, ManagedDescriptor } from '../descriptor/descriptor.ts'
import { keptText } from '../descriptor/kept-text.ts'
import { wantedMetadata } from '../descriptor/metadata.ts'
import { digestOfChoice, isChosen } from './chosen.ts'

/** One write to the API. A plan is a list of them, executed in order; an empty plan means that nothing is to be done. */
export type Operation = ReplaceOperation | UpdateOperation | ({ readonly target: 'child' } & ChildOperation)

/** An update of the object itself. */
export interface UpdateOperation {
  readonly type: 'update'
  readonly body: Fields
  readonly fields: readonly string[]
  /** What is sent where the API refuses `body`. */
  readonly otherwise?: Fields
}

/** The object gives way to another, since these fields cannot be changed. Nothing else is planned beside it. */
export interface ReplaceOperation {
  readonly type: 'replace'
  readonly fields: readonly string[]
}

/** What is known of the far side when a plan is made. */
export interface Observed {
  readonly remote: RemoteObject
  /** All children of the object, for kinds that have them. */
  readonly children: readonly RemoteObject[]
}

/** What a plan also depends on, beside spec and remote object. */
export interface PlanContext {
  /** Mark and own keys, as an object that Culvert made carries them; undefined for any other object, which gets no mark. */
  readonly markedMetadata: string | undefined
  /** An input from a Secret or ConfigMap differs from the one that was sent last. */
  readonly inputsChanged: boolean
  /** What the service has made of fields that the spec leaves open in part, as `internal.chosen` has it. */
  readonly chosen?: Readonly<Record<string, string>> | undefined
}

/**
 * The body of the POST: every field that a create may carry, `metadata` (or the name until the id is known) being the marker, with
 * the user's own keys beside it (`management-api.md § Standard operations`). Absent means the API's default, so nulls are left out.
 * @param former the object whose place the new one takes; what is left alone there is carried over
 */
export function planCreate<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  desired: Desired<Spec>,
  marker: string,
  former?: RemoteObject,
): Fields {
  const kept = former === undefined ? {} : leftAlone(descriptor, desired, former)
  const fields = without({ ...descriptor.desire(desired, undefined), ...kept }, descriptor.updateOnly)
  const description = desired.decides('description') ? desired.spec.description : former?.description
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)),
    ...(description && descriptor.markedBy === 'metadata' ? { description } : {}),
    [descriptor.markedBy]: marker,
  }
}

/** Fields of the former object that the spec says nothing about, so far as they differ from what a new one would be given. */
function leftAlone<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  desired: Desired<Spec>,
  former: RemoteObject,
): Fields {
  const wanted = descriptor.comparable(descriptor.desire(desired, former), former)
  const fresh = descriptor.rotation?.fresh ?? []
  const kept = Object.entries(descriptor.observe(former)).filter(([field, value]) => {
    return !(desired.decides(field) || fresh.includes(field)) && !equalJSON(wanted[field], value)
  })
  return Object.fromEntries(kept)
}

/** The writes that make the remote object and its children equal to the spec. Pure; a dry run uses the same. */
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

/** The replacement that a field fixed at create asks for, if one differs. */
export function planReplacement<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  desired: Desired<Spec>,
  remote: RemoteObject,
): ReplaceOperation | undefined {
  const { replacement } = descriptor
  if (replacement === undefined) return undefined
  const wanted = decided(desired, descriptor.desire(desired, remote))
  const fields = differing(descriptor, wanted, descriptor.observe(remote), remote).filter((field) => {
    return replacement.fields.includes(field)
  })
  return fields.length === 0 ? undefined : { type: 'replace', fields }
}

/** Names of the fields of `wanted` that `found` has otherwise. Undefined leaves alone. */
function differing<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  wanted: Fields,
  found: Fields,
  remote: RemoteObject,
): readonly string[] {
  const comparable = descriptor.comparable(wanted, remote)
  return Object.keys(wanted).filter((field) => {
    return wanted[field] !== undefined && !equalJSON(comparable[field], found[field])
  })
}

/** Those of them that the service has not chosen itself, where the spec leaves a part open. */
function drifted<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  wanted: Fields,
  remote: RemoteObject,
  { chosen = {} }: PlanContext,
): readonly string[] {
  const found = foundFields(descriptor, remote)
  const comparable = descriptor.comparable(wanted, remote)
  return differing(descriptor, wanted, found, remote).filter((field) => {
    return chosen[field] === undefined || chosen[field] !== digestOfChoice(comparable[field], found[field])
  })
}

/** The PATCH of the object itself; undefined when nothing that can be changed differs. */
export function planUpdate<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  desired: Desired<Spec>,
  remote: RemoteObject,
  context: PlanContext,
): UpdateOperation | undefined {
  const wanted = without(wantedFields(descriptor, desired, remote, context), descriptor.createOnly)
  const changed = new Set(drifted(descriptor, wanted, remote, context))
  const fields = Object.keys(wanted).filter((field) => {
    const resent = context.inputsChanged && descriptor.secretFields.includes(field) && wanted[field] !== undefined
    return resent || changed.has(field)
  })
  if (fields.length === 0) return undefined
  const body = Object.fromEntries(fields.map((field) => [field, wanted[field]]))
  const otherwise = descriptor.otherwise?.(body, remote)
  return { type: 'update', body, fields, ...(otherwise === undefined ? {} : { otherwise }) }
}

/** A field that the API has otherwise than the spec wants it, in the form in which both are compared: without secrets. */
export interface Difference {
  readonly field: string
  readonly found: unknown
  readonly wanted: unknown
}

/** In what the object differs from the spec, by what can be changed and what is fixed at create, so far as the API shows it. */
export function differences<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  desired: Desired<Spec>,
  remote: RemoteObject,
  context: PlanContext,
): readonly Difference[] {
  const wanted = wantedFields(descriptor, desired, remote, context)
  const found = foundFields(descriptor, remote)
  const comparable = descriptor.comparable(wanted, remote)
  return drifted(descriptor, wanted, remote, context)
    .filter((field) => found[field] !== undefined || !descriptor.createOnly.includes(field))
    .map((field) => ({ field, found: found[field], wanted: comparable[field] }))
}

/** Every field that the spec decides about, as it should be. */
function wantedFields<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  desired: Desired<Spec>,
  remote: RemoteObject,
  context: PlanContext,
): Fields {
  return {
    ...decided(desired, descriptor.desire(desired, remote)),
    ...(descriptor.markedBy === 'metadata' && {
      ...decided(desired, { description: keptText(desired.spec.description ?? '', remote.description ?? '') }),
      metadata: wantedMetadata(desired.spec, remote.metadata ?? '', context.markedMetadata),
    }),
  }
}

/** The same fields as the API has them. */
function foundFields<Spec extends CommonSpec>(descriptor: ManagedDescriptor<Spec>, remote: RemoteObject): Fields {
  return {
    ...descriptor.observe(remote),
    description: remote.description ?? '',
    metadata: remote.metadata ?? '',
  }
}

/**
 * What the service has made of the last write, in the form of `internal.chosen`: fields that differ from what was sent only in what that left
 * open. They are the service's choice, and no drift as long as they stay so.
 */
export function chosenByServer<Spec extends CommonSpec>(
  descriptor: ManagedDescriptor<Spec>,
  desired: Desired<Spec>,
  remote: RemoteObject,
): Readonly<Record<string, string>> | undefined {
  if (descriptor.openFields.length === 0) return undefined
  const wanted = decided(desired, descriptor.desire(desired, remote))
  const comparable = descriptor.comparable(wanted, remote)
  const found = descriptor.observe(remote)
  const chosen = differing(descriptor, wanted, found, remote)
    .filter((field) => descriptor.openFields.includes(field) && isChosen(comparable[field], found[field]))
    .map((field) => [field, digestOfChoice(comparable[field], found[field])])
  return chosen.length === 0 ? undefined : Object.fromEntries(chosen)
}

/** Those of the fields that the spec decides about. */
export function decided(desired: Pick<Desired<unknown>, 'decides'>, fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => desired.decides(field)))
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
}
