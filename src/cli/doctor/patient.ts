import type { KubeObject } from '../../kube/types.ts'
import type { AccountResource } from '../../managed/account-resource.ts'
import { claimOf } from '../../managed/claims/claim.ts'
import type { CustomResource } from '../../managed/cr.ts'
import type { Descriptor } from '../../managed/descriptor/descriptor.ts'
import { resourceTypeOf } from '../../managed/kinds-registry.ts'
import type { Cluster } from '../cluster/ask-cluster.ts'
import { CommandError } from '../cluster/command-error.ts'
import { readLive } from '../cluster/live-conditions.ts'
import {
  type Leader,
  leaderOf,
  type OperatorFlags,
  operatorNamespaceOf,
  operatorOf,
} from '../cluster/operator-lease.ts'
import type { StatedResource } from '../cluster/resource-state.ts'
import { Snapshot } from '../cluster/snapshot.ts'
import type { Check, Finding } from './finding.ts'

/** What the checks look at. */
export interface Patient {
  readonly cluster: Cluster
  /** The namespaces that are looked at; none: all. */
  readonly namespaces: readonly string[]
  /** The operators that work here: that of the flags, and those that have claimed accounts. */
  readonly operators: readonly Operator[]
  /** The operator's own namespace, where the Secrets of ClusterAccounts are. */
  readonly operatorNamespace: string
  readonly accounts: readonly StatedResource[]
  /** Resources of managed kinds. */
  readonly members: readonly (StatedResource & CustomResource)[]
  /** How old what is known of a member is, by `nameText`, where the operator reads it only now and then. */
  readonly ages: ReadonlyMap<string, string>
  /** Tunnels, and whatever else is composed of other objects. */
  readonly composed: readonly StatedResource[]
  /** Findings about what could not be read. */
  readonly unread: readonly Finding[]
  /** Wall time in milliseconds. */
  readonly now: number
}

/** An operator, and what it works on. */
export interface Operator {
  /** `namespace/name` in claims; undefined for the operator that the flags mean, which may claim nothing. */
  readonly claimant: string | undefined
  readonly leader: Leader
  readonly accounts: readonly StatedResource[]
}

/** The operator that works on the resources of an account. */
export function operatorAt({ operators }: Patient, account: AccountResource | undefined): Leader {
  const claimant = account === undefined ? undefined : claimOf(account)?.operator
  const operator = operators.find((each) => each.claimant === claimant) ?? operators[0]
  return operator?.leader ?? { type: 'none' }
}

/** Reads all resources in these namespaces, or in all if none are given. What may not be read is a finding. */
export async function readPatient(
  cluster: Cluster,
  namespaces: readonly string[],
  flags: OperatorFlags,
): Promise<Patient> {
  const { clock, kinds, kube } = cluster
  const unread: Finding[] = []
  const listed = async <T extends StatedResource>(descriptor: Descriptor): Promise<readonly T[]> => {
    const type = resourceTypeOf(descriptor)
    const found = await unlessForbidden('resources', `${type.plural}.${type.group}`, unread, () => {
      return kube.listAll<T>(type, namespaces)
    })
    return found ?? []
  }
  const [accounts, members, composed] = await Promise.all([
    Promise.all(kinds.accounts.map((descriptor) => listed<StatedResource & AccountResource>(descriptor))),
    Promise.all(kinds.managed.map((descriptor) => listed<StatedResource & CustomResource>(descriptor))),
    Promise.all(kinds.composed.map((descriptor) => listed(descriptor))),
  ])
  const snapshot = new Snapshot(kinds, kube)
  snapshot.hold([...accounts.flat(), ...members.flat()])
  const [operators, live] = await Promise.all([
    operatorsOf(cluster, accounts.flat(), flags),
    readLive(cluster, snapshot, members.flat(), flags),
  ])
  return {
    cluster,
    namespaces,
    operators,
    operatorNamespace: operatorNamespaceOf(flags, operators[0]?.leader ?? { type: 'none' }),
    accounts: accounts.flat(),
    members: live.resources as Patient['members'],
    ages: live.ages,
    composed: composed.flat(),
    unread,
    now: clock.now(),
  }
}

/** The operators that have claimed accounts; the operator of the flags unless every account is claimed. */
async function operatorsOf(
  { clock, kube }: Cluster,
  accounts: readonly (StatedResource & AccountResource)[],
  flags: OperatorFlags,
): Promise<readonly Operator[]> {
  const byClaimant = Map.groupBy(accounts, (account) => claimOf(account)?.operator)
  if (byClaimant.size === 0) byClaimant.set(undefined, [])
  const operators = [...byClaimant].map(async ([claimant, claimed]): Promise<Operator> => {
    const leader = await leaderOf(kube, clock, operatorOf(claimed[0], flags))
    return { claimant, leader, accounts: claimed }
  })
  return await Promise.all(operators)
}

/** The result of `read`, or undefined and a finding if a right is missing for it. */
export async function unlessForbidden<T>(
  check: Check,
  object: string,
  findings: Finding[],
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== 'Forbidden') throw error
    findings.push({ severity: 'unchecked', check, object, cause: error.message, command: error.command })
    return undefined
  }
}

/** `Edge/shop in namespace web`. */
export function objectText({ kind, metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? `${kind}/${name}` : `${kind}/${name} in namespace ${namespace}`
}
