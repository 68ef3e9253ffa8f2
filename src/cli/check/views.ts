import { collections } from '../../api/collections.ts'
import type { Collection, RemoteObject } from '../../api/types.ts'
import type { Session, Source } from '../../judging/world.ts'
import { refId, textOf } from '../../kinds/building-blocks/remote.ts'
import { nameOf, type ResourceName, shortName } from '../../managed/cr.ts'
import { type KindsRegistry, resourceTypeOf } from '../../managed/kinds-registry.ts'
import { kubectlName, writeCommand } from '../../managed/kubectl.ts'
import { markerOf } from '../../managed/markers/marker.ts'
import type { StatedResource } from '../cluster/resource-state.ts'
import { isPlaceholder } from '../plan/answers.ts'
import type { DryAccount } from '../plan/dry-account.ts'
import type { AccountView, KnownObjects } from './account-world.ts'
import { objectsOf } from './resource-objects.ts'

/** Resources of a cluster that the caller may read. */
export interface ReadableResources {
  readonly kinds: KindsRegistry
  readonly resources: readonly StatedResource[]
  /** The namespace of the edge: others are named in full. */
  readonly namespace: string
}

/** An account that is read live. The resources name its objects; those that others have are not shown. */
export function liveView(account: DryAccount, readAt: string, readable: ReadableResources | undefined): AccountView {
  const byId = new Map(readable?.resources.map((resource) => [textOf(resource.status?.id) ?? '', resource]))
  const list = async (collection: Collection): Promise<KnownObjects> => ({ objects: await account.objects(collection) })
  return {
    objects: list,
    sourceOf: (object) => {
      const resource = byId.get(object.id)
      if (resource !== undefined && readable !== undefined) return { ...resourceSource(resource, readable), at: readAt }
      const marker = markerOf(object)
      if (readable === undefined || marker === undefined || marker.namespace === readable.namespace) {
        return { name: object.id, at: readAt }
      }
      return { name: `${ARTICLES[marker.kind] ?? 'a'} ${marker.kind} that you may not see`, at: readAt, isHidden: true }
    },
    undecided: () => undefined,
    furtherRules: () => undefined,
    sessionsOf: async (group) => {
      const credentials = credentialsOf(group, readable)
      const sessions = credentials.size === 0 ? [] : [...(await list(collections.tunnelSessions)).objects.values()]
      return sessions.filter((each) => credentials.has(refId(each.credential) ?? '')).map(sessionIn)
    },
  }
}

const ARTICLES: Readonly<Record<string, string>> = {
  Edge: 'an',
  IPPolicy: 'an',
  IPPolicyRule: 'an',
  IPRestriction: 'an',
}

/** What statuses show, which are as old as `age` says. @param unread why nothing else is known */
export function resourceView(readable: ReadableResources, age: string, unread: string): AccountView {
  const byCollection = new Map<string, Map<string, RemoteObject>>()
  const holders = new Map<string, StatedResource>()
  for (const resource of readable.resources) {
    for (const { collection, object } of objectsOf(resource)) {
      const known = byCollection.get(collection.path) ?? new Map<string, RemoteObject>()
      byCollection.set(collection.path, known.set(object.id, object))
      holders.set(object.id, resource)
    }
  }
  // The rules of an IPPolicy come with it, but those that are IPPolicyRules are changed there.
  for (const rule of readable.resources.filter(({ kind }) => kind === 'IPPolicyRule')) {
    holders.set(textOf(rule.status?.id) ?? '', rule)
  }
  const others = `what no resource shows is not known, since ${unread}`
  return {
    objects: (collection) => Promise.resolve({ objects: byCollection.get(collection.path) ?? new Map(), others }),
    sourceOf: ({ id }) => {
      const holder = holders.get(id)
      return holder === undefined ? { name: id } : { ...resourceSource(holder, readable), at: age }
    },
    undecided: ({ id }) => (holders.has(id) ? undefined : others),
    furtherRules: ({ id }) => {
      const { ruleCount = 0, rules = [] } = holders.get(id)?.status ?? {}
      return ruleCount === (rules as readonly unknown[]).length ? undefined : 'not all of its rules are shown'
    },
    sessionsOf: (group) => {
      const credentials = credentialsOf(group, readable)
      const mirrored = readable.resources
        .filter(({ kind }) => kind === 'TunnelSession')
        .map(({ status }) => status ?? {})
      const found = mirrored.filter(({ credential }) => credentials.has(refId(credential) ?? ''))
      return Promise.resolve(
        found.map(({ ip, agentVersion, region }) => sessionIn({ ip, agent_version: agentVersion, region })),
      )
    },
  }
}

/** Manifests that were planned. */
export interface PlannedManifests {
  /** Where each resource was read: `shop.yaml:12`. */
  readonly places: ReadonlyMap<string, string>
  /** Why there may be other objects in a collection; undefined if there are none. */
  readonly others: (collection: Collection) => string | undefined
  /** Whether the service is to decide in favour of connections: groups have tunnels, domains certificates. */
  readonly isAlone: boolean
}

/** An account as the operator would leave it after the manifests were applied. */
export function plannedView(account: DryAccount, { places, others, isAlone }: PlannedManifests): AccountView {
  const writers = new Map(account.writes.map(({ id, origin }) => [id, origin.resource]))
  const undecided = ({ id }: RemoteObject): string | undefined => {
    return isPlaceholder(id) && !isAlone ? 'the service decides it once the manifests are applied' : undefined
  }
  return {
    objects: async (collection) => {
      const objects = await account.objects(collection)
      const favoured = (object: RemoteObject): RemoteObject => {
        return isPlaceholder(object.id) ? { ...object, tunnels: [{ id: 'assumed' }] } : object
      }
      const shown = isAlone ? new Map([...objects].map(([id, object]) => [id, favoured(object)])) : objects
      return { objects: shown, others: others(collection) }
    },
    sourceOf: (object): Source => {
      const writer = writers.get(object.id) ?? markerOf(object)
      if (writer === undefined) return { name: object.id }
      const place = places.get(placeKey(writer))
      return { name: place === undefined ? shortName(writer) : `${shortName(writer)} (${place})` }
    },
    undecided,
    furtherRules: () => undefined,
    sessionsOf: () => Promise.resolve([]),
  }
}

/** Key of `PlannedManifests.places`. */
export function placeKey({ kind, namespace, name }: ResourceName): string {
  return `${kind} ${namespace ?? ''}/${name}`
}

function resourceSource(resource: StatedResource, { kinds, namespace }: ReadableResources): Source {
  const descriptor = kinds.all.find(({ definition }) => definition.kind === resource.kind)
  const place = resource.metadata.namespace === namespace ? '' : ` in namespace ${resource.metadata.namespace}`
  const command = descriptor && writeCommand('edit', kubectlName(resourceTypeOf(descriptor), resource.metadata))
  return { name: `${shortName(nameOf(resource))}${place}`, command }
}

/** Ids of the credentials of the Tunnels that serve a group: those that they own, and those that they name. */
function credentialsOf(group: RemoteObject, readable: ReadableResources | undefined): ReadonlySet<string> {
  const resources = readable?.resources ?? []
  const backend = resources.find(({ kind, status }) => kind === 'Backend' && status?.id === group.id)
  const tunnels = resources.filter(({ kind, spec, metadata }) => {
    const { backendRef } = (spec ?? {}) as { readonly backendRef?: { readonly name?: string } }
    const isNamed = backend !== undefined && backendRef?.name === backend.metadata.name
    return kind === 'Tunnel' && isNamed && metadata.namespace === backend.metadata.namespace
  })
  const ids = resources.flatMap(({ kind, metadata, status }) => {
    const isUsed = tunnels.some(({ metadata: tunnel, spec }) => {
      const { credentialRef } = (spec ?? {}) as { readonly credentialRef?: { readonly name?: string } }
      const isOwned = metadata.ownerReferences?.some(({ uid }) => uid === tunnel.uid) === true
      return isOwned || (credentialRef?.name === metadata.name && tunnel.namespace === metadata.namespace)
    })
    return CREDENTIALS.has(kind) && isUsed ? [textOf(status?.id) ?? ''] : []
  })
  return new Set(ids)
}

const CREDENTIALS: ReadonlySet<string> = new Set(['SSHCredential', 'TunnelCredential'])

/** Kinds that show which sessions serve a group. */
export const SESSION_KINDS = ['Tunnel', 'TunnelSession', ...CREDENTIALS] as const

function sessionIn({ ip, agent_version, region }: Readonly<Record<string, unknown>>): Session {
  return {
    address: textOf(ip) ?? 'an unknown address',
    version: textOf(agent_version) ?? 'unknown',
    region: textOf(region) ?? 'unknown',
  }
}
