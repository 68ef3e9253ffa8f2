import type { Command } from 'commander'
import type { AccountResource } from '../../managed/account-resource.ts'
import { claimOf } from '../../managed/claims/claim.ts'
import { type Lease, leases } from '../../runtime/lease-lock.ts'
import type { Clock } from '../../util/clock.ts'
import { CommandError } from './command-error.ts'
import type { ExplainedClient } from './explained-client.ts'

/** Whether an operator leads, as far as its Lease shows. */
export type Leader =
  /** It renewed its Lease in time. */
  | { readonly type: 'leading'; readonly namespace: string; readonly release: string; readonly holder: string }
  /** The last holder stopped renewing it, or released it. */
  | {
      readonly type: 'silent'
      readonly namespace: string
      readonly release: string
      readonly holder: string | undefined
      readonly silentMs: number
    }
  /** There is no Lease of that name; an operator may run without one (`--no-leader-elect`). */
  | { readonly type: 'none' }
  /** The Leases may not be listed. */
  | { readonly type: 'unknown'; readonly error: CommandError }

/** Which operator is meant. */
export interface OperatorFlags {
  /** Name of the release, which names the Lease. */
  readonly release: string
  /** Undefined: wherever the Lease is. */
  readonly operatorNamespace?: string
}

/** Where the operator is if nothing says otherwise. */
export const OPERATOR_NAMESPACE = 'culvert-system'

/** Adds the flags of `OperatorFlags` to a command. */
export function operatorOptions(command: Command): Command {
  return command
    .option('--release <name>', 'name of the release, which names the Lease of the operator', 'culvert')
    .option('--operator-namespace <name>', "the operator's own namespace (default: wherever its Lease is)")
}

/** The operator that has claimed an account (docs/dividing-accounts.md); that of the flags if none has. */
export function operatorOf(account: AccountResource | undefined, flags: OperatorFlags): OperatorFlags {
  const claim = account && claimOf(account)
  if (claim === undefined) return flags
  const [operatorNamespace = '', release = ''] = claim.operator.split('/')
  return { operatorNamespace, release }
}

/** The operator's own namespace, where the Secrets of ClusterAccounts are: as given, or wherever its Lease is. */
export function operatorNamespaceOf({ operatorNamespace }: OperatorFlags, leader: Leader): string {
  const seen = leader.type === 'leading' || leader.type === 'silent' ? leader.namespace : undefined
  return operatorNamespace ?? seen ?? OPERATOR_NAMESPACE
}

/**
 * Finds the Lease of a release, by its name. A Lease counts as silent after twice its duration, since
 * the clocks of its holder and of this machine differ.
 */
export async function leaderOf(
  kube: Pick<ExplainedClient, 'list'>,
  clock: Pick<Clock, 'now'>,
  { release, operatorNamespace: namespace }: OperatorFlags,
): Promise<Leader> {
  let found: readonly Lease[]
  try {
    found = (await kube.list<Lease>(leases, { namespace, fieldSelector: `metadata.name=${release}` })).items
  } catch (error) {
    if (error instanceof CommandError && error.code === 'Forbidden') return { type: 'unknown', error }
    throw error
  }
  const [latest] = found.map((lease) => leaderIn(lease, clock.now())).sort(byFreshness)
  return latest ?? { type: 'none' }
}

type SeenLease = Extract<Leader, { readonly type: 'leading' | 'silent' }>

function leaderIn({ metadata, spec = {} }: Lease, now: number): SeenLease {
  const { holderIdentity, leaseDurationSeconds = 0, renewTime = '' } = spec
  const { namespace = '', name: release } = metadata
  const silentMs = now - Date.parse(renewTime)
  const holder = holderIdentity || undefined
  if (holder !== undefined && silentMs < 2000 * leaseDurationSeconds)
    return { type: 'leading', namespace, release, holder }
  return { type: 'silent', namespace, release, holder, silentMs: Number.isNaN(silentMs) ? 0 : silentMs }
}

function byFreshness(left: SeenLease, right: SeenLease): number {
  return silence(left) - silence(right)
}

function silence(lease: SeenLease): number {
  return lease.type === 'leading' ? Number.NEGATIVE_INFINITY : lease.silentMs
}
