import type { ClosableApiClient } from '../../api/client.ts'
import type { SessionConfig } from '../../managed/accounts/session.ts'
import type { CustomResource, ResourceName } from '../../managed/cr.ts'
import { Fingerprints } from '../../managed/inputs/fingerprints.ts'
import type { KindsRegistry } from '../../managed/kinds-registry.ts'
import { type Clock, systemClock } from '../../util/clock.ts'
import type { Logger } from '../../util/logger.ts'
import { type Random, systemRandom } from '../../util/random.ts'
import type { ManifestAt } from '../manifests.ts'
import { checkManifests } from './check-manifests.ts'
import { DryAccount } from './dry-account.ts'
import { DryClock } from './dry-clock.ts'
import { DryCluster } from './dry-cluster.ts'
import { DryOperator } from './dry-operator.ts'
import { guardsOf } from './marks.ts'
import { operationsOf, type PlanOperation } from './operations.ts'
import {
  type AccountReader,
  completeScene,
  type PlannedResource,
  plannedResources,
  putManifests,
  rememberObjects,
} from './scene.ts'

export interface PlanRequest {
  readonly kinds: KindsRegistry
  readonly manifests: readonly ManifestAt[]
  /** Of manifests that name none. */
  readonly namespace: string
  readonly config: SessionConfig
  readonly reader: AccountReader
  /** Id of the installation that will apply the manifests. Default: the one whose marks the objects carry. */
  readonly installation?: string | undefined
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
}

/** A cluster in memory as it is once the manifests are applied, and before the operator has seen them. */
export interface PreparedScene {
  readonly cluster: DryCluster
  readonly account: DryAccount
  readonly clock: DryClock
  readonly installation: string
  readonly resources: readonly PlannedResource[]
}

/** Plans without a cluster: whatever it would know is told from the manifests and from the account. */
export async function makePlan(request: PlanRequest): Promise<Plan> {
  const scene = await prepareScene(request)
  const { account, resources } = scene
  const operator = operatorOver(request, scene, { client: account, writesSent: () => account.writes.length })
  await operator.run((left) => request.progress?.(`planning, ${left} resources left`))
  const guards = await guardsOf(request.kinds, account)
  return {
    operations: operationsOf(request.kinds, account.writes, guards),
    unplanned: unplannedAmong(operator, resources),
  }
}

/** Applies the manifests to a cluster in memory. Reads the account. */
export async function prepareScene(request: PlanRequest): Promise<PreparedScene> {
  const { kinds, namespace, config, reader, logger, progress } = request
  const manifests = checkManifests(kinds, request.manifests)
  const clock = new DryClock(request.clock ?? systemClock)
  const cluster = new DryCluster({ kinds, logger, now: () => clock.now() })
  const account = new DryAccount(reader, clock)
  const resources = plannedResources(kinds, manifests, namespace)
  putManifests(kinds, cluster, manifests, namespace)
  completeScene(kinds, cluster, resources, config.baseURL)
  progress?.('reading the account')
  const installation = await rememberObjects(kinds, cluster, account, resources, request.installation)
  return { cluster, account, clock, installation, resources }
}

/** An operator that has the resources of the scene to reconcile, and calls the account through `client`. */
export function operatorOver(
  { kinds, config, logger, random }: PlanRequest,
  { cluster, clock, installation, resources }: PreparedScene,
  account: { readonly client: ClosableApiClient; readonly writesSent: () => number },
): DryOperator {
  const operator = new DryOperator({
    kinds,
    cluster,
    account: account.client,
    writesSent: account.writesSent,
    config,
    installation,
    operatorNamespace: 'culvert-system',
    fingerprints: new Fingerprints(Buffer.alloc(32)),
    clock,
    random: random ?? systemRandom,
    logger,
  })
  for (const { name } of resources) operator.enqueue(name)
  return operator
}

function unplannedAmong(operator: DryOperator, resources: readonly PlannedResource[]): readonly Unplanned[] {
  return resources.flatMap(({ name }) => {
    const ended = operator.ended(name)
    if (ended?.lacks === undefined) return []
    const { reason, message } = ended.lacks
    return [{ resource: name, reason, message, isWaiting: !isStalled(ended.cr) }]
  })
}

function isStalled({ status }: CustomResource): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Stalled' && is === 'True') ?? false
}
