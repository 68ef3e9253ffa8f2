import { type AccountName, parseAttempt } from '../attempt.ts'
import { type CustomResource, isDeleting, nameOf, recordedAccount, shortName } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import type { FoundReference } from '../descriptor/references.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { CREATE_ATTEMPT } from '../names.ts'
import type { ManagedContext, Resources } from '../run/context.ts'
import { TerminalError, WaitError } from '../run/control-flow-errors.ts'
import type { Accounts, Blocked, MemberSession } from '../run/session.ts'
import { crosses, crossingOf, referredName } from './crossings.ts'
import { notGranted, notPermitted } from './reach.ts'

/** An account that becomes Ready wakes its resources; this is only the fallback. */
const FALLBACK_MS = 60_000

/** The watch should report a new Account sooner. */
const UNSEEN_MS = 1_000

const OWN_DEFAULT: AccountName = { kind: 'Account', name: 'default' }
const SHARED_DEFAULT: AccountName = { kind: 'ClusterAccount', name: 'default' }

/** A wait for a share of the account's requests is reported if it takes this long or longer. Milliseconds. */
const TOLD_MS = 30_000

/** The kinds and resources from which an account is chosen. */
export interface AccountChoices {
  readonly kinds: Pick<KindsRegistry, 'managedKind'>
  readonly resources: Pick<Resources, 'get' | 'hasAccount' | 'namespace'>
}

/** The account that holds the CR's object, or will hold it; undefined if there is none to choose. */
export function accountOf(context: AccountChoices, cr: CustomResource): AccountName | undefined {
  return recordedAccount(cr) ?? chosenAccount(context, cr)
}

/**
 * The session of a CR's account. An account that was used stays in use: an attempt is resolved, and an object kept,
 * where it was made.
 * @throws WaitError while the account is missing, not Ready, or not for this namespace, or its share of requests is
 *   used up; TerminalError if it does not allow what the spec requests, or the spec has an account other than the one
 *   in use. A deletion waits in either case.
 */
export function openSession(
  context: AccountChoices & { readonly accounts: Accounts },
  cr: CustomResource,
): MemberSession {
  const account = accountOf(context, cr)
  if (account === undefined) throw withoutAccount(context, cr)
  // An object is deleted where it is, whatever account is now in the spec.
  if (!isDeleting(cr)) refuseMove(context, cr, account)
  const session = context.accounts.session(account, cr)
  const blocked = 'cache' in session ? session.blocked() : session
  if (blocked !== undefined) throw errorOf(blocked, isDeleting(cr))
  if (!('cache' in session)) throw new Error('an account is either a session or blocked')
  const turn = session.turn()
  if (turn !== undefined) throw new WaitError(reasons.Progressing, turn.message, turn.ms, turn.ms < TOLD_MS)
  return session
}

/**
 * Asks Kubernetes directly, before the first create in the cluster's default account, whether the namespace has a
 * default Account of its own: the watch may not have reported it yet, and an object cannot move later.
 * @throws WaitError while the watch has not reported it
 */
export async function recheckDefaultAccount(
  context: ManagedContext,
  cr: CustomResource,
  chosen: AccountName,
): Promise<void> {
  const isNamed = cr.spec.accountRef !== undefined || sourceOf(context, cr) !== undefined
  if (isNamed || recordedAccount(cr) !== undefined || !isSame(chosen, SHARED_DEFAULT)) return
  const type = { ...context.kinds.accountType(OWN_DEFAULT.kind), metadataOnly: true }
  const { namespace = '' } = cr.metadata
  if ((await context.kube.get(type, { namespace, name: OWN_DEFAULT.name })) === undefined) return
  throw new WaitError(reasons.AccountNotReady, `${text(OWN_DEFAULT)} has just been created`, UNSEEN_MS)
}

/** The error that ends a reconcile when its account is blocked. */
export function errorOf({ reason, message, silent, lasting }: Blocked, deleting: boolean): WaitError | TerminalError {
  const isTerminal = lasting === true && !deleting
  return isTerminal ? new TerminalError(reason, message) : new WaitError(reason, message, FALLBACK_MS, silent)
}

/** Why there is no account to choose. CRs that wait are woken once there is one. */
function withoutAccount(context: AccountChoices, cr: CustomResource): WaitError | TerminalError {
  const source = sourceOf(context, cr)
  if (source !== undefined && crosses(cr, source.reference.ref)) return withoutCrossing(cr, source)
  if (source !== undefined && source.target === undefined) {
    const { path, kind, ref } = source.reference
    const message = `${path}: ${shortName({ kind, name: ref.name ?? '' })} does not exist: create it or correct the name`
    return new WaitError(reasons.ReferenceNotReady, message, FALLBACK_MS)
  }
  const whose = source?.target === undefined ? '' : ` of ${shortName(nameOf(source.target))}`
  const remedy = `create an Account named default in namespace ${cr.metadata.namespace} or set spec.accountRef${whose}`
  return new WaitError(reasons.AccountNotReady, `there is no account: ${remedy}`, FALLBACK_MS)
}

/**
 * For an account chosen by a resource of another namespace: the error is the same whether that resource exists or not,
 * until it grants the reference.
 */
function withoutCrossing(cr: CustomResource, { reference: { path, kind, ref }, target }: AccountSource): TerminalError {
  const what = `${kind} ${ref.namespace}/${ref.name}`
  if (target === undefined) return notGranted(cr, path, what)
  return notPermitted(`${path}: ${what} is in an Account of its namespace, but only a ClusterAccount can be shared`)
}

function refuseMove(context: AccountChoices, cr: CustomResource, account: AccountName): void {
  const source = sourceOf(context, cr)
  if (source !== undefined) {
    refuseMovedSource(source, account)
    return
  }
  const { accountRef } = cr.spec
  if (accountRef === undefined) return
  const named = refName(accountRef)
  if (isSame(named, account)) return
  throw new TerminalError(
    reasons.InvalidSpec,
    `spec.accountRef names ${text(named)}, but the object is in ${text(account)}: ` +
      'change it back, or delete this resource and recreate it',
  )
}

function refuseMovedSource({ reference: { path }, target }: AccountSource, account: AccountName): void {
  const other = target && recordedAccount(target)
  if (target === undefined || other === undefined || isSame(other, account)) return
  throw new TerminalError(
    reasons.InvalidSpec,
    `${path}: ${shortName(nameOf(target))} lives in ${text(other)}, but the object is in ${text(account)}: ` +
      'delete this resource and recreate it',
  )
}

/** The resource that decides in which account another lives. */
interface AccountSource {
  readonly reference: FoundReference
  /** Undefined while it does not exist. */
  readonly target: CustomResource | undefined
}

/** The resource that decides the account of a CR instead of its own spec; undefined if there is none. */
function sourceOf({ kinds, resources }: AccountChoices, cr: CustomResource): AccountSource | undefined {
  const reference = kinds
    .managedKind(cr.kind)
    ?.references.of(cr.spec)
    .find(({ partOf }) => partOf !== undefined)
  if (reference?.ref.name === undefined) return undefined
  if (!crosses(cr, reference.ref)) return { reference, target: resources.get(referredName(cr, reference)) }
  const crossing = crossingOf(resources, cr, reference)
  return { reference, target: crossing.type === 'refused' ? undefined : crossing.target }
}

function chosenAccount(context: AccountChoices, cr: CustomResource): AccountName | undefined {
  const source = sourceOf(context, cr)
  if (source?.target !== undefined)
    return sharedAccount(accountOf(context, source.target), crosses(cr, source.reference.ref))
  if (source !== undefined) return isDeleting(cr) ? formerAccount(cr) : undefined
  if (cr.spec.accountRef !== undefined) return refName(cr.spec.accountRef)
  return [OWN_DEFAULT, SHARED_DEFAULT].find((account) =>
    context.resources.hasAccount(account, cr.metadata.namespace ?? ''),
  )
}

/** An Account belongs to its namespace: in another namespace, its name means another account. */
function sharedAccount(account: AccountName | undefined, isElsewhere: boolean): AccountName | undefined {
  return isElsewhere && account?.kind === 'Account' ? undefined : account
}

/**
 * The account of the last attempt of a CR that came back without its status: a deletion does not wait for the resource
 * that decided it.
 */
function formerAccount(cr: CustomResource): AccountName | undefined {
  return parseAttempt(cr.metadata.annotations?.[CREATE_ATTEMPT])?.account
}

function isSame(left: AccountName, right: AccountName): boolean {
  return left.kind === right.kind && left.name === right.name
}

function refName({ kind = 'Account', name }: NonNullable<CustomResource['spec']['accountRef']>): AccountName {
  return { kind, name }
}

function text({ kind, name }: AccountName): string {
  return `${kind}/${name}`
}
