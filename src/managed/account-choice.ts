import type { AccountName } from './attempt.ts'
import type { AccountSession, Accounts, Resources } from './context.ts'
import { type CustomResource, isDeleting, ownAttempt, statusOf } from './cr.ts'
import { TerminalError, WaitError } from './errors.ts'
import { reasons } from './reasons.ts'

/** An account that becomes Ready wakes its resources; this is only the fallback. */
const FALLBACK_MS = 60_000

/** What there is to choose from. */
export interface AccountChoices {
  readonly resources: Pick<Resources, 'hasAccount'>
}

/** The account that a CR's object lives in or is to live in; undefined when there is none to choose. */
export function accountOf(context: AccountChoices, cr: CustomResource): AccountName | undefined {
  return recordedAccount(cr) ?? chosenAccount(context, cr)
}

/**
 * The session of a CR's account. An account that was used stays in use: an attempt is resolved, and an object kept, where it was made.
 * @throws WaitError while the account is missing or not Ready; TerminalError when the spec names another one than is in use.
 */
export function openSession(
  context: AccountChoices & { readonly accounts: Accounts },
  cr: CustomResource,
): AccountSession {
  const { namespace = '' } = cr.metadata
  const account = accountOf(context, cr)
  if (account === undefined) {
    const remedy = `create an Account named default in namespace ${namespace} or set spec.accountRef`
    throw new WaitError(reasons.AccountNotReady, `there is no account: ${remedy}`, FALLBACK_MS)
  }
  // What is deleted is deleted where it lives, whatever the spec has come to name.
  if (!isDeleting(cr)) refuseMove(cr, account)
  const session = context.accounts.session(account, namespace)
  const blocked = 'cache' in session ? session.blocked() : session
  if (blocked !== undefined) throw new WaitError(blocked.reason, blocked.message, FALLBACK_MS, blocked.silent)
  if (!('cache' in session)) throw new Error('an account is either a session or blocked')
  return session
}

function refuseMove(cr: CustomResource, account: AccountName): void {
  const { accountRef } = cr.spec
  if (accountRef === undefined) return
  const named = refName(accountRef)
  if (named.kind === account.kind && named.name === account.name) return
  throw new TerminalError(
    reasons.InvalidSpec,
    `spec.accountRef: names ${text(named)}, but the object lives in ${text(account)}: ` +
      'set it back, or delete this resource and create it anew',
  )
}

function recordedAccount(cr: CustomResource): AccountName | undefined {
  return statusOf(cr).accountRef ?? ownAttempt(cr)?.account
}

function chosenAccount(context: AccountChoices, cr: CustomResource): AccountName | undefined {
  if (cr.spec.accountRef !== undefined) return refName(cr.spec.accountRef)
  const defaults: readonly AccountName[] = [
    { kind: 'Account', name: 'default' },
    { kind: 'ClusterAccount', name: 'default' },
  ]
  return defaults.find((account) => context.resources.hasAccount(account, cr.metadata.namespace ?? ''))
}

function refName({ kind = 'Account', name }: NonNullable<CustomResource['spec']['accountRef']>): AccountName {
  return { kind, name }
}

function text({ kind, name }: AccountName): string {
  return `${kind}/${name}`
}
