import type { AccountKey } from '../../managed/account-resource.ts'
import {
  type CustomResource,
  generationOf,
  isDeleting,
  nameOf,
  nameText,
  type ResourceName,
  statusOf,
} from '../../managed/cr.ts'
import type { Condition } from '../../managed/descriptor/common.ts'
import { type Reason, reasons } from '../../managed/descriptor/reasons.ts'
import { isInForce } from '../../managed/descriptor/references.ts'
import { referredName } from '../../managed/references/crossings.ts'
import { accountInUse } from '../cluster/account-access.ts'
import { CommandError } from '../cluster/command-error.ts'
import { type ResourceState, type StatedResource, sidesOf, stateOf } from '../cluster/resource-state.ts'
import type { Snapshot } from '../cluster/snapshot.ts'
import { needsAction } from './remedy.ts'

/** One resource on the way from the one that was asked about to the cause. */
export interface Link {
  readonly name: ResourceName
  /** What the previous one names it by: a field such as `spec.backend`, or `account`. Undefined for the first. */
  readonly by: string | undefined
  /** Undefined: it does not exist, or may not be read. */
  readonly resource: StatedResource | undefined
  readonly state: ResourceState | undefined
  /** Why it may not be read. */
  readonly unreadable?: CommandError
}

/** A condition of a kind that is false, although the resource may be Ready. */
export interface Side {
  readonly name: ResourceName
  readonly condition: Condition
}

/** Longest way that is followed; references cannot form a cycle that is longer than all resources. */
const LONGEST = 20

/**
 * Follows what a resource waits for, from reference to reference, to the first that waits for nothing else: the cause.
 * Reads every resource by its name, and only those on the way.
 */
export async function findCauses(snapshot: Snapshot, asked: StatedResource): Promise<readonly Link[]> {
  const links: Link[] = [linkTo(nameOf(asked), asked, undefined)]
  const seen = new Set([nameText(nameOf(asked))])
  let current: StatedResource | undefined = asked
  while (current !== undefined && links.length < LONGEST) {
    const next: Link | undefined = await waitsFor(snapshot, current)
    if (next === undefined || seen.has(nameText(next.name))) break
    seen.add(nameText(next.name))
    links.push(next)
    current = next.resource
  }
  return links
}

/** Most resources that are read to explain one that works. */
const MOST_READ = 50

/** A resource, first, what it consists of, and the dependencies, transitively, as far as they are worth reading. */
export async function readNeeded(
  snapshot: Snapshot,
  asked: StatedResource,
  parts: readonly StatedResource[] = [],
): Promise<readonly StatedResource[]> {
  const found = new Map([asked, ...parts].map((each) => [nameText(nameOf(each)), each]))
  for (const resource of found.values()) {
    for (const name of namesNeeded(snapshot, resource)) {
      if (found.has(nameText(name)) || found.size >= MOST_READ) continue
      const { resource: needed } = await readLink(snapshot, name, undefined)
      if (needed !== undefined) found.set(nameText(name), needed)
    }
  }
  const [, ...others] = found.values()
  return [asked, ...others]
}

/**
 * What is wrong with a resource that works, and what a human has to fix in its dependencies: an edge is Ready although
 * no agent serves the group behind it.
 */
export function findSides([asked, ...others]: readonly StatedResource[]): readonly Side[] {
  if (asked === undefined) return []
  const ofOthers = others.flatMap(ownSides).filter(({ condition }) => needsAction(condition.reason))
  return [...ownSides(asked), ...ofOthers]
}

/** Further problems of a resource, in addition to its state. */
export function ownSides(resource: StatedResource): readonly Side[] {
  return sidesOf(resource).map((condition) => ({ name: nameOf(resource), condition }))
}

function namesNeeded(snapshot: Snapshot, resource: StatedResource): readonly ResourceName[] {
  if (!isMember(snapshot, resource)) return []
  const references = snapshot.kinds.managedKind(resource.kind)?.references.of(resource.spec) ?? []
  return references.flatMap(({ kind, ref }) => (ref.name === undefined ? [] : [referredName(resource, { kind, ref })]))
}

/** A resource on the way to a cause. */
export function linkTo(name: ResourceName, resource: StatedResource | undefined, by: string | undefined): Link {
  return { name, by, resource, state: resource && stateOf(resource) }
}

/** Reasons with which a resource reports what is wrong with its account. */
const OF_ACCOUNTS: ReadonlySet<string> = new Set<Reason>([
  'AccountNotReady',
  'CollectionNotListable',
  'IdentityUnproven',
  'RequestsRefused',
  'Unauthorized',
  'Unreachable',
])

/** What a resource waits for, if its conditions say that it waits for another. */
async function waitsFor(snapshot: Snapshot, resource: StatedResource): Promise<Link | undefined> {
  const { phase, reason, message } = stateOf(resource)
  if (phase === 'current' || phase === 'paused' || !isMember(snapshot, resource)) return undefined
  if (reason === reasons.ReferenceNotReady) {
    const reference = await unusableReference(snapshot, resource, message)
    if (reference !== undefined) return reference
  }
  // No one reports on a resource whose account is paused, or that no one reports on either.
  const hasNoReport = phase === 'unseen' || reason === reasons.Progressing
  const account = OF_ACCOUNTS.has(reason) || hasNoReport ? await blockedAccount(snapshot, resource) : undefined
  if (account !== undefined || phase !== 'unseen') return account
  // For half a minute, a new resource reports nothing about the new ones that it waits for.
  return unusableReference(snapshot, resource, '')
}

function isMember(snapshot: Snapshot, resource: StatedResource): resource is StatedResource & CustomResource {
  return snapshot.kinds.managedKind(resource.kind) !== undefined
}

/** The reference that the message names, or else the first whose target is not in force. */
async function unusableReference(snapshot: Snapshot, cr: CustomResource, message: string): Promise<Link | undefined> {
  const named = (snapshot.kinds.managedKind(cr.kind)?.references.of(cr.spec) ?? []).filter(
    ({ ref }) => ref.name !== undefined,
  )
  const mentioned = named.filter(({ path }) => message.startsWith(`${path}:`))
  for (const { kind, path, ref } of [...mentioned, ...named.filter((each) => !mentioned.includes(each))]) {
    const name = referredName(cr, { kind, ref })
    const link = await readLink(snapshot, name, path)
    if (link.resource === undefined || !isUsable(link.resource)) return link
  }
  return undefined
}

function isUsable(target: StatedResource): boolean {
  const status = statusOf(target as StatedResource & CustomResource)
  return isInForce({ generation: generationOf(target), deleting: isDeleting(target), status })
}

/** The account of a resource, if something is wrong with it. */
async function blockedAccount(snapshot: Snapshot, cr: CustomResource): Promise<Link | undefined> {
  const account: AccountKey | undefined = await accountInUse(snapshot, cr)
  if (account === undefined) return undefined
  const link = await readLink(snapshot, account, 'its account')
  const { phase, reason } = link.state ?? {}
  const works = phase === 'current' && reason === reasons.Available
  return works ? undefined : link
}

async function readLink(snapshot: Snapshot, name: ResourceName, by: string | undefined): Promise<Link> {
  try {
    return linkTo(name, await snapshot.read(name), by)
  } catch (error) {
    if (error instanceof CommandError && error.code === 'Forbidden') {
      return { ...linkTo(name, undefined, by), unreadable: error }
    }
    throw error
  }
}
