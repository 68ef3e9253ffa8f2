import { ApiError } from '../../api/errors.ts'
import { readEnvironment } from '../../config.ts'
import type { AccountResource } from '../../managed/account-resource.ts'
import type { SessionConfig } from '../../managed/accounts/session.ts'
import { type CustomResource, internalOf, nameOf, nameText, statusOf } from '../../managed/cr.ts'
import { accountDefaults } from '../../managed/descriptor/account.ts'
import type { ManagedDescriptor } from '../../managed/descriptor/descriptor.ts'
import type { Holder } from '../../managed/descriptor/readiness.ts'
import { openAccount } from '../account-client.ts'
import { accountAbout, readAccess } from './account-access.ts'
import type { Cluster } from './ask-cluster.ts'
import { CommandError } from './command-error.ts'
import { leaderOf, type OperatorFlags, operatorNamespaceOf } from './operator-lease.ts'
import type { StatedResource } from './resource-state.ts'
import type { Snapshot } from './snapshot.ts'

/** Resources whose conditions come and go without the operator, with how old each is. */
export interface Live {
  /** The given resources, some with the conditions that the API shows now. */
  readonly resources: readonly StatedResource[]
  /** By `nameText`: `read just now`, or `up to 10m old`. Absent: its conditions do not change by themselves. */
  readonly ages: ReadonlyMap<string, string>
}

/** Calls of one command to the API. */
const MOST_CALLS = 5
/** Longest time for each, in milliseconds. */
const CALL_MS = 2_000

/**
 * Reads from the API what the operator reads only once per resync, such as tunnels that are online: of at most five
 * resources, first of those with a problem, and only where the caller may read the key of the account.
 */
export async function readLive(
  cluster: Cluster,
  snapshot: Snapshot,
  resources: readonly StatedResource[],
  flags: OperatorFlags,
): Promise<Live> {
  const changing = resources
    .flatMap((resource) => changingOf(snapshot, resource))
    .toSorted((left, right) => Number(right.hasProblem) - Number(left.hasProblem))
  const holders = new Map(resources.map((resource) => [resource.status?.id, resource]))
  const ages = new Map<string, string>()
  const fresh = new Map<string, StatedResource>()
  const configs = new Map<string, Promise<SessionConfig | undefined>>()
  for (const [index, { resource, descriptor }] of targetsFirst(changing).entries()) {
    const key = nameText(nameOf(resource))
    const account = await accountAbout(snapshot, resource)
    ages.set(key, `up to ${account?.spec.resyncInterval ?? accountDefaults.resyncInterval} old`)
    if (account === undefined || index >= MOST_CALLS) continue
    const config = configs.get(account.metadata.uid) ?? configOf(cluster, account, flags)
    configs.set(account.metadata.uid, config)
    const read = await readNow(cluster, await config, { resource, descriptor }, (id) => holders.get(id))
    if (read === undefined) {
      // Others would have to wait as long.
      configs.set(account.metadata.uid, Promise.resolve(undefined))
      continue
    }
    fresh.set(key, read)
    holders.set(read.status?.id, read)
    ages.set(key, 'read just now')
  }
  return { resources: resources.map((each) => fresh.get(nameText(nameOf(each))) ?? each), ages }
}

interface Changing {
  readonly resource: StatedResource & CustomResource
  readonly descriptor: ManagedDescriptor
  readonly hasProblem: boolean
}

/** The resource if it has conditions that change without the operator. */
function changingOf(snapshot: Snapshot, resource: StatedResource): readonly Changing[] {
  const descriptor = snapshot.kinds.managedKind(resource.kind)
  const types = (descriptor?.definition.conditions ?? []).filter((each) => each.informational === true)
  const shown = (resource.status?.conditions ?? []).filter((each) => types.some(({ type }) => type === each.type))
  if (descriptor === undefined || shown.length === 0 || typeof resource.status?.id !== 'string') return []
  const hasProblem = shown.some(({ status }) => status === 'False')
  return [{ resource: resource as StatedResource & CustomResource, descriptor, hasProblem }]
}

/** The same, with each after those that it refers to, since its conditions may follow from theirs. */
function targetsFirst(changing: readonly Changing[]): readonly Changing[] {
  const byId = new Map(changing.map((each) => [statusOf(each.resource).id, each]))
  const visited = new Set<Changing>()
  const ordered: Changing[] = []
  const visit = (each: Changing): void => {
    if (visited.has(each)) return
    visited.add(each)
    for (const { id } of internalOf(each.resource).references ?? []) {
      const target = byId.get(id)
      if (target !== undefined) visit(target)
    }
    ordered.push(each)
  }
  for (const each of changing) visit(each)
  return ordered
}

/** How to call the API of an account; undefined where the caller may not read its key. */
async function configOf(
  { kube, clock }: Cluster,
  account: AccountResource,
  flags: OperatorFlags,
): Promise<SessionConfig | undefined> {
  try {
    const isShared = account.metadata.namespace === undefined
    const leader = isShared ? await leaderOf(kube, clock, flags) : { type: 'none' as const }
    const access = await readAccess({ kube }, account, operatorNamespaceOf(flags, leader))
    return access.type === 'open' ? access.config : undefined
  } catch (error) {
    if (error instanceof CommandError && error.code === 'Forbidden') return undefined
    throw error
  }
}

/** The resource with its conditions as of now; undefined if the API does not answer, or lacks the object. */
async function readNow(
  { clock }: Cluster,
  config: SessionConfig | undefined,
  { resource, descriptor }: Omit<Changing, 'hasProblem'>,
  holder: (id: string) => StatedResource | undefined,
): Promise<StatedResource | undefined> {
  if (config === undefined) return undefined
  const client = openAccount(config, { clock, proxies: readEnvironment().proxies, timeoutMs: CALL_MS })
  const { spec, status } = resource
  try {
    const signal = AbortSignal.timeout(CALL_MS)
    const remote = await client.get(descriptor.identity.collectionOf(spec), String(status?.id), { signal })
    if (remote === undefined) return undefined
    const holderOf = (id: string): Holder | undefined => {
      const found = holder(id) as CustomResource | undefined
      return found && { spec: found.spec, status: statusOf(found) }
    }
    const { conditions: now = [] } = descriptor.status.readiness({ spec, remote, now: clock.now(), holderOf })
    const conditions = (status?.conditions ?? []).map((each) => ({
      ...each,
      ...now.find(({ type }) => type === each.type),
    }))
    return { ...resource, status: { ...status, conditions } }
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  } finally {
    await client.close()
  }
}
