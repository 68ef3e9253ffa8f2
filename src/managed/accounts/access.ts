import { coversDomain } from '../../util/domain-pattern.ts'
import { ownField } from '../../util/json.ts'
import type { AccountName } from '../attempt.ts'
import { shortName } from '../cr.ts'
import { type AccessEntry, type AccessNeeds, type Reach, unmanagedObjects } from '../descriptor/access.ts'
import { selects } from '../descriptor/label-selector.ts'
import { reasons } from '../descriptor/reasons.ts'
import type { Blocked, GrantedAccess, GrantingEntry } from '../run/session.ts'

type Labels = Readonly<Record<string, string>>

/** A resource that asks to use an account, and what it needs there. */
export interface AccessRequest {
  readonly account: AccountName
  readonly namespace: string
  /** Labels of the namespace; undefined for one that the watches do not know. */
  readonly labels: Labels | undefined
  readonly kind: string
  readonly reach: Reach
  readonly needs: AccessNeeds
}

/** The permissions of resources in an Account of their own namespace. */
export const fullAccess: GrantedAccess = { granted: undefined, unmanagedObjects: 'Adopt' }

/**
 * Decides whether a resource may use a ClusterAccount: one entry that selects its namespace must allow all of its
 * needs. The reason of a refusal shows which check failed.
 */
export function accessOf(entries: readonly AccessEntry[], request: AccessRequest): GrantedAccess | Blocked {
  const { account, namespace, kind } = request
  const ofNamespace = selecting(entries, request.labels)
  if (ofNamespace.length === 0) {
    const remedy = 'let its administrator extend spec.access or label the namespace'
    const message = `${shortName(account)} does not allow namespace ${namespace}: ${remedy}`
    return { reason: reasons.AccountNotAllowed, message }
  }
  const ofKind = ofNamespace.filter(({ entry }) => allowsKind(entry, request))
  if (ofKind.length === 0) {
    const remedy = 'let its administrator add the kind to an entry of spec.access that selects the namespace'
    const message = `${shortName(account)} does not allow ${kind} in namespace ${namespace}: ${remedy}`
    return { reason: reasons.KindNotAllowed, message, lasting: true }
  }
  return narrowed(ofKind, request)
}

/** Like `accessOf`, once more of the resource's needs is known than when `granted` was computed. */
export function narrowed(granted: readonly GrantingEntry[], request: AccessRequest): GrantedAccess | Blocked {
  const refusals = granted.map(({ entry }) => refusalOf(entry, request))
  const allowing = granted.filter((_, index) => refusals[index] === undefined)
  const [refusal] = refusals.filter((each) => each !== undefined)
  if (allowing.length === 0 && refusal !== undefined) return refusal
  const levels = allowing.map(({ entry }) => unmanagedObjects.indexOf(entry.unmanagedObjects ?? 'Deny'))
  return { granted: allowing, unmanagedObjects: unmanagedObjects[Math.max(0, ...levels)] ?? 'Deny' }
}

/**
 * The entries that apply to a kind in a namespace with these labels. As long as they stay equal, nothing changes for
 * its resources.
 */
export function entriesFor(
  entries: readonly AccessEntry[] = [],
  { labels, ...kind }: Pick<AccessRequest, 'labels' | 'kind' | 'reach'>,
): readonly AccessEntry[] {
  return selecting(entries, labels)
    .filter(({ entry }) => allowsKind(entry, kind))
    .map(({ entry }) => entry)
}

/**
 * The requests per minute of a namespace with these labels, for all its resources together: the smallest number that an
 * entry which selects it sets, whatever kinds it allows. Permissions add up, but an entry by itself tells how much a
 * namespace sends at most, and no other entry may raise that. Undefined: no such entry sets a number.
 */
export function requestLimit(
  entries: readonly AccessEntry[] = [],
  labels: AccessRequest['labels'],
): number | undefined {
  const limits = selecting(entries, labels).flatMap(({ entry }) => entry.requestsPerMinute ?? [])
  return limits.length === 0 ? undefined : Math.min(...limits)
}

/** The entries that select a namespace with these labels; none for an unknown namespace. */
function selecting(entries: readonly AccessEntry[], labels: Labels | undefined): readonly GrantingEntry[] {
  if (labels === undefined) return []
  return entries
    .map((entry, index) => ({ entry, index }))
    .filter(({ entry }) => selects(entry.namespaceSelector, labels))
}

function allowsKind({ kinds }: AccessEntry, { kind, reach }: Pick<AccessRequest, 'kind' | 'reach'>): boolean {
  return kinds === undefined ? reach === 'namespace' : kinds.includes(kind)
}

/** The refusal of the first need that the entry does not allow. */
function refusalOf(entry: AccessEntry, request: AccessRequest): Blocked | undefined {
  return domainRefusal(entry, request) ?? labelRefusal(entry, request)
}

function domainRefusal({ domains }: AccessEntry, request: AccessRequest): Blocked | undefined {
  if (domains === undefined) return undefined
  const need = request.needs.domains?.find(({ domain }) => !domains.some((pattern) => coversDomain(pattern, domain)))
  if (need === undefined) return undefined
  const what = need.domain === '*' ? 'takes every domain' : `takes ${need.domain}`
  const allowed = domains.length === 0 ? 'no domain' : domains.join(', ')
  return refused(reasons.DomainNotAllowed, request, { path: need.path, what, allowed, noun: 'domains' })
}

function labelRefusal({ labels }: AccessEntry, request: AccessRequest): Blocked | undefined {
  if (labels === undefined) return undefined
  const { chosen, bound = [] } = request.needs
  const allowed = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ')
  const missing = Object.entries(labels).find(
    ([key, value]) => chosen !== undefined && ownField(chosen.labels, key) !== value,
  )
  if (chosen !== undefined && missing !== undefined) {
    const what = `lacks ${missing.join('=')}, and so takes tunnels of others`
    return refused(reasons.LabelNotAllowed, request, { path: chosen.path, what, allowed, noun: 'labels' })
  }
  const need = bound.find(({ key, value }) => {
    const wanted = ownField(labels, key)
    return key === '*' || (wanted !== undefined && wanted !== value)
  })
  if (need === undefined) return undefined
  const what = need.key === '*' && need.value === '*' ? 'takes every label' : `takes ${need.key}=${need.value}`
  return refused(reasons.LabelNotAllowed, request, { path: need.path, what, allowed, noun: 'labels' })
}

interface Refused {
  readonly path: string
  readonly what: string
  readonly allowed: string
  readonly noun: string
}

function refused(
  reason: Blocked['reason'],
  { account, namespace }: AccessRequest,
  { path, what, allowed, noun }: Refused,
): Blocked {
  const message =
    `${path}: ${what}; ${shortName(account)} allows namespace ${namespace} ${allowed}: ` +
    `keep to these, or let its administrator extend ${noun} of an entry of spec.access`
  return { reason, message, lasting: true }
}
