import { configMapType, namespaceType, secretType } from '../kube/core-types.ts'
import type { KubeClient, KubeObject, ResourceType } from '../kube/types.ts'
import type { AccountResource } from '../managed/account-resource.ts'
import type { CustomResource } from '../managed/cr.ts'
import type { InputSource } from '../managed/descriptor/common.ts'
import type { Descriptor } from '../managed/descriptor/descriptor.ts'
import { type KindsRegistry, resourceTypeOf } from '../managed/kinds-registry.ts'
import { LOAD_BALANCERS, type ServiceResource, serviceType } from '../managed/services/service.ts'
import type { CommandResource } from '../managed/sessions/command-resource.ts'
import type { MirroredObject } from '../managed/sessions/mirrored.ts'
import type { SessionWatches } from '../managed/sessions/session-store.ts'
import { namedData } from '../managed/store/named-data.ts'
import type { CoreWatches } from '../managed/store/watches.ts'
import { TUNNEL, type TunnelResource, type TunnelWatches, workloadTypes } from '../managed/tunnels/tunnel-resource.ts'
import type { ObjectSource, RecordedSource } from '../runtime/object-source.ts'
import { Poller } from '../runtime/poller.ts'
import { Reflector, type ReflectorOptions } from '../runtime/reflector.ts'
import type { Clock } from '../util/clock.ts'

/** The watches of an operator, one for each type. */
export interface Watches extends CoreWatches, SessionWatches, TunnelWatches {
  /** Services of type LoadBalancer; absent while Culvert serves none. */
  readonly services?: RecordedSource<ServiceResource> | undefined
}

export interface WatchScope {
  /** Namespaces to watch; empty: all, including the operator's own, which holds the Secrets of ClusterAccounts. */
  readonly namespaces: readonly string[]
  /** Whether Tunnels have agents, whose Deployments and the like are watched. */
  readonly tunnels: boolean
  /** Whether Services of type LoadBalancer are watched. Default: false. */
  readonly services?: boolean | undefined
  /**
   * Secrets and ConfigMaps are not watched; those that accounts and resources name are read one by one. Absent:
   * watched.
   */
  readonly readOneByOne?:
    | {
        /** Time between two reads of each, in milliseconds. */
        readonly intervalMs: number
        /** Namespace of the Secrets of ClusterAccounts. */
        readonly operatorNamespace: string
      }
    | undefined
}

type WatchBase = Omit<ReflectorOptions, 'type' | 'namespaces'> & {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'watch'>
}

/** A watch for every kind, for Secrets, ConfigMaps and Namespaces, none of them started. */
export function createWatches(
  kinds: KindsRegistry,
  base: WatchBase,
  { namespaces, tunnels, services = false, readOneByOne }: WatchScope,
): Watches {
  // Installations that watch different namespaces must not compete for cluster-scoped resources.
  const all = namespaces.length === 0
  const reflect = <T extends KubeObject>(type: ResourceType): Reflector<T> => {
    return new Reflector<T>({ ...base, type, namespaces })
  }
  const byKind = <T extends KubeObject>(descriptors: readonly Descriptor[]) => {
    return new Map(
      descriptors.map((descriptor) => [descriptor.definition.kind, reflect<T>(resourceTypeOf(descriptor))]),
    )
  }
  const managed = byKind<CustomResource>(kinds.managed)
  const accounts = byKind<AccountResource>(
    kinds.accounts.filter(({ definition }) => all || definition.scope === 'Namespaced'),
  )
  const data = (type: ResourceType, source: InputSource): ObjectSource<KubeObject> => {
    if (readOneByOne === undefined) return reflect({ ...type, metadataOnly: true })
    const { intervalMs, operatorNamespace } = readOneByOne
    return new Poller({
      ...base,
      type: { ...type, metadataOnly: true },
      intervalMs,
      names: () => namedData(kinds, { managed, accounts }, operatorNamespace, source),
      ready: Promise.all([...managed.values(), ...accounts.values()].map(({ synced }) => synced)),
    })
  }
  return {
    managed,
    accounts,
    mirrors: byKind<MirroredObject>(kinds.mirrors),
    commands: byKind<CommandResource>(kinds.commands),
    composed: byKind<TunnelResource>(kinds.composed),
    workloads: new Map(
      tunnels
        ? workloadTypes.map((type) => [type.kind, new Reflector({ ...base, type, namespaces, labelSelector: TUNNEL })])
        : [],
    ),
    services: services
      ? new Reflector({ ...base, type: serviceType, namespaces, fieldSelector: LOAD_BALANCERS })
      : undefined,
    secrets: data(secretType, 'Secret'),
    configMaps: data(configMapType, 'ConfigMap'),
    namespaces: all ? reflect({ ...namespaceType, metadataOnly: true }) : undefined,
  }
}

/** The local copy of one type, whatever that type is. */
type Source = Pick<ObjectSource<KubeObject>, 'start' | 'synced' | 'refresh'>

/**
 * Resolves when everything is known as of `since` (monotonic milliseconds) or later. All sources refresh concurrently.
 */
export async function refreshWatches(watches: Watches, since: number, clock: Clock): Promise<void> {
  const sources = allWatches(watches)
  const pollers = sources.filter((source) => source instanceof Poller)
  const reflectors = sources.filter((source) => !(source instanceof Poller))
  const areRefreshed = await Promise.all(reflectors.map((reflector) => reflector.refresh(since)))
  // The objects that pollers read are known by now.
  const named = areRefreshed.includes(true) ? clock.monotonic() : since
  await Promise.all(pollers.map((poller) => poller.refresh(named)))
}

/** Every watch, of any type. */
export function allWatches(watches: Watches): readonly Source[] {
  const { managed, accounts, mirrors, commands, composed, workloads, services, secrets, configMaps, namespaces } =
    watches
  return [
    ...managed.values(),
    ...accounts.values(),
    ...mirrors.values(),
    ...commands.values(),
    ...composed.values(),
    ...workloads.values(),
    ...(services === undefined ? [] : [services]),
    secrets,
    configMaps,
    ...(namespaces === undefined ? [] : [namespaces]),
  ]
}
