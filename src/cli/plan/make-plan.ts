import type { ClosableApiClient } from '../../api/client.ts'
import type { AccountKey } from '../../managed/account-resource.ts'
import type { SessionConfig } from '../../managed/accounts/session.ts'
import type { CustomResource, ResourceName } from '../../managed/cr.ts'
import { reasons } from '../../managed/descriptor/reasons.ts'
import type { KindsRegistry } from '../../managed/kinds-registry.ts'
import { GROUP } from '../../managed/names.ts'
import { Fingerprints } from '../../managed/run/fingerprints.ts'
import { SpecAdmission } from '../../schema/admission.ts'
import { type Clock, systemClock } from '../../util/clock.ts'
import type { Logger } from '../../util/logger.ts'
import { counted } from '../../util/printable.ts'
import { type Random, systemRandom } from '../../util/random.ts'
import { OPERATOR_NAMESPACE } from '../cluster/operator-lease.ts'
import type { ManifestAt } from '../manifests.ts'
import { checkManifests } from './check-manifests.ts'
import { DryAccount } from './dry-account.ts'
import { DryClock } from './dry-clock.ts'
import { DryCluster } from './dry-cluster.ts'
import { DryOperator } from './dry-operator.ts'
import type { LiveCluster } from './live-cluster.ts'
import { accountFilter, formerSpec, installationOfCluster, pruneMissing, putLive } from './live-scene.ts'
import { guardsOf, operationsOf, otherPartsOf, type PlanOperation } from './operations.ts'
import {
  type AccountReader,
  completeScene,
  type PlannedResource,
  plannedResources,
  putManifests,
  rememberObjects,
} from './scene.ts'
import { type UnnamedModules, unnamedModules } from './unnamed-modules.ts'

export interface PlanRequest {
  readonly kinds: KindsRegistry
  readonly manifests: readonly ManifestAt[]
  /** Of manifests that name none. */
  readonly namespace: string
  readonly config: SessionConfig
  readonly reader: AccountReader
  /** The cluster to which the manifests would be applied. Absent: its state is derived from the account. */
  readonly live?: LiveCluster | undefined
  /**
   * Only resources of the account with that name; `Account/NAME` or `ClusterAccount/NAME`. Default: of every account.
   */
  readonly account?: string | undefined
  /** Whether resources that the cluster has in the namespaces of the manifests, and these lack, are deleted. */
  readonly prune?: boolean
  readonly operatorNamespace?: string
  /** Id of the installation that will apply the manifests. Default: the one whose marks the objects carry. */
  readonly installation?: string | undefined
  /** Validates the manifests; reuse it for several plans, since it caches compiled rules. Default: a new one. */
  readonly admission?: SpecAdmission
  readonly logger: Logger
  readonly clock?: Clock
  readonly random?: Random
  readonly progress?: (text: string) => void
}

/** A resource whose spec would not be carried out, or not yet. */
export interface Unplanned {
  readonly resource: ResourceName
  readonly reason: string
  readonly message: string
  /** It waits for something else; otherwise a person has to change something. */
  readonly isWaiting: boolean
}

/** What applying the manifests would do to the account. */
export interface Plan {
  readonly operations: readonly PlanOperation[]
  readonly unplanned: readonly Unplanned[]
  /** Resources of accounts for which the plan is not made. */
  readonly elsewhere: readonly ResourceName[]
  /** Resources that consist of others, which the operator makes in a cluster only: what those do is not planned. */
  readonly composed: readonly ResourceName[]
  /** Resources that are planned as new, since nothing but a cluster could tell which objects are theirs. */
  readonly unrecognised: readonly ResourceName[]
  /** Modules that would be removed if an earlier spec named them. Empty for a plan with a cluster, which knows that. */
  readonly unnamed: readonly UnnamedModules[]
  /** Changes of secrets cannot be told from others: the operator's salt could not be read. */
  readonly isUnsalted: boolean
}

/** A cluster in memory as it is once the manifests are applied, and before the operator has seen them. */
export interface PreparedScene {
  readonly cluster: DryCluster
  readonly account: DryAccount
  readonly clock: DryClock
  readonly installation: string
  /** Resources whose objects, if there are any, cannot be told without a cluster. */
  readonly unrecognised: readonly ResourceName[]
  readonly resources: readonly PlannedResource[]
  /** Resources to reconcile: those of the manifests, and those that are deleted. */
  readonly names: readonly ResourceName[]
  readonly isPlanned: (account: AccountKey) => boolean
}

/** Plans what the operator would do once the manifests are applied. Writes nothing anywhere. */
export async function makePlan(request: PlanRequest): Promise<Plan> {
  const scene = await prepareScene(request)
  const { account } = scene
  const operator = operatorOver(request, scene, { client: account, writesSent: () => account.writes.length })
  await operator.run((left) => request.progress?.(`planning, ${counted(left, 'resource')} left`))
  const guards = await guardsOf(request.kinds, account)
  const others = await otherPartsOf(request.kinds, account)
  return {
    operations: operationsOf(request.kinds, account.writes, {
      guards,
      others,
      knowsCauses: request.live !== undefined,
    }),
    unplanned: await unplannedAmong(operator, scene),
    elsewhere: scene.resources.flatMap(({ name }) => (isElsewhere(operator, scene, name) ? [name] : [])),
    composed: composedAmong(request),
    unrecognised: scene.unrecognised,
    unnamed: request.live === undefined ? await unnamedModules(request.kinds, scene.names, { operator, account }) : [],
    isUnsalted: request.live !== undefined && request.live.fingerprints === undefined,
  }
}

function composedAmong({ kinds, manifests, namespace }: PlanRequest): readonly ResourceName[] {
  const composed = new Set(kinds.composed.map(({ definition }) => definition.kind))
  return manifests
    .map(({ manifest }) => manifest)
    .filter(({ apiVersion, kind }) => apiVersion.startsWith(`${GROUP}/`) && composed.has(kind))
    .map(({ kind, metadata }) => ({ kind, name: metadata.name, namespace: metadata.namespace ?? namespace }))
}

/** Applies the manifests to a cluster in memory. Reads the account. */
export async function prepareScene(request: PlanRequest): Promise<PreparedScene> {
  const { kinds, namespace, reader, logger, progress, live } = request
  const clock = new DryClock(request.clock ?? systemClock)
  const cluster = new DryCluster({ kinds, logger, now: () => clock.now(), readThrough: live?.readThrough })
  if (live !== undefined) putLive(kinds, cluster, live)
  const manifests = checkManifests(kinds, request.manifests, {
    admission: request.admission ?? new SpecAdmission(),
    formerSpec: (manifest) => formerSpec(kinds, cluster, manifest, namespace),
  })
  const account = new DryAccount(reader, clock)
  const resources = plannedResources(kinds, manifests, namespace)
  putManifests(kinds, cluster, manifests, namespace)
  progress?.('reading the account')
  const recognised = await settleScene(request, { cluster, account, resources })
  const isPlanned = accountFilter(kinds, cluster, resources, request.account)
  const pruned = request.prune === true ? pruneMissing(kinds, cluster, { resources, isPlanned }) : []
  return {
    cluster,
    account,
    clock,
    ...recognised,
    resources,
    isPlanned,
    names: [...resources.map(({ name }) => name), ...pruned],
  }
}

/** Adds whatever the manifests do not say, and finds out whose marks count. */
async function settleScene(
  { kinds, config, live, installation }: PlanRequest,
  { cluster, account, resources }: Pick<PreparedScene, 'cluster' | 'account' | 'resources'>,
): Promise<Pick<PreparedScene, 'installation' | 'unrecognised'>> {
  if (live !== undefined) {
    return { installation: installation ?? (await installationOfCluster(kinds, account, live)), unrecognised: [] }
  }
  completeScene(kinds, cluster, resources, config.baseURL)
  return await rememberObjects(kinds, cluster, account, resources, installation)
}

/** An operator that has the resources of the scene to reconcile, and calls the account through `client`. */
export function operatorOver(
  { kinds, config, live, logger, random, operatorNamespace = OPERATOR_NAMESPACE }: PlanRequest,
  { cluster, clock, installation, isPlanned, names }: PreparedScene,
  account: { readonly client: ClosableApiClient; readonly writesSent: () => number },
): DryOperator {
  const operator = new DryOperator({
    kinds,
    cluster,
    account: account.client,
    writesSent: account.writesSent,
    config,
    installation,
    isPlanned,
    operatorNamespace,
    // Nothing was fingerprinted with a salt of zeros: what was sent before counts as unknown.
    fingerprints: live?.fingerprints ?? new Fingerprints(Buffer.alloc(32)),
    clock,
    random: random ?? systemRandom,
    logger,
  })
  for (const name of names) operator.enqueue(name)
  return operator
}

/** Resources of the scene that the operator did not carry out. */
export async function unplannedAmong(operator: DryOperator, scene: PreparedScene): Promise<readonly Unplanned[]> {
  const found: Unplanned[] = []
  for (const name of scene.names) {
    const ended = operator.ended(name)
    if (ended === undefined || isElsewhere(operator, scene, name)) continue
    if (ended.lacks !== undefined) {
      const { reason, message } = ended.lacks
      found.push({ resource: name, reason, message, isWaiting: !isStalled(ended.cr) })
      continue
    }
    const fixed = await operator.fixedDifferences(name)
    if (fixed.length === 0) continue
    const message = `${fixed.join(', ')} cannot be changed: revert it, or delete the resource and recreate it`
    found.push({ resource: name, reason: reasons.InvalidSpec, message, isWaiting: false })
  }
  return found
}

function isElsewhere(operator: DryOperator, { isPlanned }: PreparedScene, name: ResourceName): boolean {
  const ended = operator.ended(name)
  const account = ended && operator.accountOf(ended.cr)
  return account !== undefined && !isPlanned(account)
}

function isStalled({ status }: CustomResource): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Stalled' && is === 'True') ?? false
}
