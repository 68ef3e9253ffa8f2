import { durationMs } from '../../util/duration.ts'
import { accountKey } from '../accounts/account-resource.ts'
import type { AccountName } from '../attempt.ts'
import { WaitError } from '../errors.ts'
import { reasons } from '../reasons.ts'
import { type CommandDescriptor, MAX_TARGETS } from '../types/command.ts'
import { type MirrorDescriptor, type MirrorSettings, mirrorDefaults } from '../types/mirror.ts'
import { type CommandResource, commandStatus } from './command.ts'
import type { CommandContext, Said } from './context.ts'
import { type Candidate, candidateOf } from './targets.ts'

/** The mirror has its first list in a moment. */
const SETTLING_MS = 1000
/** How long a renewed object is waited for, beside two intervals of the mirror. */
const COME_BACK_MS = 60_000

/** The command with the account that shows what it names by reference, where it names no account itself. */
export function withAccount(
  { resources }: CommandContext,
  descriptor: CommandDescriptor,
  cr: CommandResource,
): CommandResource {
  const { sessionRef } = cr.spec.target
  if (cr.spec.accountRef !== undefined || sessionRef === undefined) return cr
  const { namespace } = cr.metadata
  const object = resources.mirrored({ kind: descriptor.mirror, namespace, name: sessionRef.name })
  const holder = object === undefined ? undefined : resources.mirrorHolder(object)
  if (holder === undefined) return cr
  const kind = holder.kind === 'Account' ? 'Account' : 'ClusterAccount'
  return { ...cr, spec: { ...cr.spec, accountRef: { kind, name: holder.metadata.name } } }
}

/** Whether the account mirrors at all. @throws WaitError while it does and has not listed yet. */
export function awaitMirror(
  context: CommandContext,
  descriptor: CommandDescriptor,
  cr: CommandResource,
  name: AccountName,
): boolean {
  if (mirroring(context, descriptor, cr, name) === undefined) return false
  const account = context.resources.account(accountKey(name, cr.metadata.namespace ?? ''))
  const settled = account !== undefined && context.isSettled(descriptor.mirror, account)
  if (cr.spec.target.id === undefined && !settled) {
    throw new WaitError(reasons.AccountNotReady, 'the sessions of the account are being listed', SETTLING_MS, true)
  }
  return true
}

/** How long after its end a command looks for what it renewed; 0 where nothing is mirrored. Milliseconds. */
export function comeBackMs(context: CommandContext, descriptor: CommandDescriptor, cr: CommandResource): number {
  const [kind, name] = commandStatus(cr).account?.split('/') ?? []
  if (name === undefined || (kind !== 'Account' && kind !== 'ClusterAccount')) return 0
  const settings = mirroring(context, descriptor, cr, { kind, name })
  return settings === undefined ? 0 : 2 * durationMs(settings.interval ?? mirrorDefaults.interval) + COME_BACK_MS
}

/** What is mirrored in the namespace of the command, of one account or of any. */
export function candidatesFor(
  { kinds, resources }: CommandContext,
  descriptor: CommandDescriptor,
  cr: CommandResource,
  account?: string,
): readonly Candidate[] {
  const mirror = mirrorOf(kinds, descriptor)
  return resources.mirroredIn(descriptor.mirror, cr.metadata.namespace ?? '').flatMap((object) => {
    const candidate = candidateOf(object, resources.mirrorHolder(object), mirror)
    return candidate === undefined || (account ?? candidate.account) !== candidate.account ? [] : [candidate]
  })
}

/** Why nothing is sent at all. */
export function nobody(count: number, mirrored: boolean, account: string): Said {
  if (count > MAX_TARGETS) {
    return [
      'False',
      reasons.TooManyTargets,
      `spec.target means ${count} sessions, and ${MAX_TARGETS} at most go into one command: narrow the selector`,
    ]
  }
  const remedy = mirrored
    ? 'see `kubectl get tunnelsessions`'
    : `${account} has no mirrorSessions: enable it, or name an id`
  return ['False', reasons.NoTarget, `spec.target means no session that ${account} shows here: ${remedy}`]
}

/** How the account mirrors; undefined when it does not. */
function mirroring(
  { kinds, resources }: CommandContext,
  descriptor: CommandDescriptor,
  cr: CommandResource,
  name: AccountName,
): MirrorSettings | undefined {
  const account = resources.account(accountKey(name, cr.metadata.namespace ?? ''))
  const settings = account === undefined ? undefined : mirrorOf(kinds, descriptor).settings(account.spec)
  return settings?.enabled === true ? settings : undefined
}

function mirrorOf(kinds: CommandContext['kinds'], { mirror }: CommandDescriptor): MirrorDescriptor {
  const descriptor = kinds.mirrors.find(({ definition }) => definition.kind === mirror)
  if (descriptor === undefined) throw new Error(`${mirror} is no kind that mirrors`)
  return descriptor
}
