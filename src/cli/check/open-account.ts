import { readFile } from 'node:fs/promises'
import type { Collection, RemoteObject } from '../../api/types.ts'
import type { Environment } from '../../config.ts'
import { kinds as allKinds } from '../../kinds/index.ts'
import { type AccountKey, type AccountResource, accountText } from '../../managed/account-resource.ts'
import type { SessionConfig } from '../../managed/accounts/session.ts'
import type { CustomResource, ResourceName } from '../../managed/cr.ts'
import { accountDefaults } from '../../managed/descriptor/account.ts'
import { KindsRegistry, resourceTypeOf } from '../../managed/kinds-registry.ts'
import { markerOf } from '../../managed/markers/marker.ts'
import { systemClock } from '../../util/clock.ts'
import { createLogger } from '../../util/logger.ts'
import { openAccount, patientReader } from '../account-client.ts'
import { type AccountFlags, AccountFlagsError, accountFromFlags, LIST_TIMEOUT_MS } from '../account-flags.ts'
import { accountInUse, readAccess } from '../cluster/account-access.ts'
import type { Cluster } from '../cluster/ask-cluster.ts'
import { CommandError } from '../cluster/command-error.ts'
import { leaderOf, type OperatorFlags, operatorNamespaceOf, operatorOf } from '../cluster/operator-lease.ts'
import { readNamed } from '../cluster/read-named.ts'
import type { ResourceArgument } from '../cluster/resource-argument.ts'
import type { StatedResource } from '../cluster/resource-state.ts'
import { Snapshot } from '../cluster/snapshot.ts'
import { readManifestsAt } from '../manifests.ts'
import { DryAccount } from '../plan/dry-account.ts'
import { operatorOver, prepareScene, unplannedAmong } from '../plan/make-plan.ts'
import type { AccountView, AskedEdge } from './account-world.ts'
import { SHOWING_KINDS } from './resource-objects.ts'
import { liveView, placeKey, plannedView, resourceView, SESSION_KINDS } from './views.ts'

/** Flags that say which account is looked at. */
export interface ViewFlags extends AccountFlags, OperatorFlags {
  readonly filename: readonly string[]
  readonly apiKeyFile?: string
  readonly manifestsAlone: boolean
}

/** What a check is about: an Edge by its name, or whatever serves a hostport. */
export type Subject = ResourceArgument | { readonly host: string; readonly port: number }

/** An account, as far as it can be looked at. */
export interface OpenedView {
  readonly view: AccountView
  /** The edge that a subject means, at its first hostport or at the host that the client names. @throws CommandError */
  edgeOf(subject: Subject, host: string | undefined): AskedEdge
  close(): Promise<void>
}

/** The flags, with the key that a file holds. @throws AccountFlagsError */
export async function withKey<Flags extends ViewFlags>(flags: Flags): Promise<Flags> {
  if (flags.apiKeyFile === undefined) return flags
  try {
    return { ...flags, apiKey: (await readFile(flags.apiKeyFile, 'utf8')).trim() }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new AccountFlagsError(`--api-key-file: the file cannot be read (${code}): correct the path`, { cause: error })
  }
}

/** The account of the flags or of the environment, read live; undefined if they name none. */
export function viewOfFlags(flags: ViewFlags, environment: Environment): OpenedView | undefined {
  // A key alone is for the account of a cluster.
  const hasAddress = (flags.baseUrl ?? environment.account.baseURL) !== undefined
  const config = hasAddress ? accountFromFlags(flags, environment) : undefined
  if (config === undefined) return undefined
  const { account, close } = openLive(config, environment)
  const view = liveView(account, nowText(), undefined)
  return { view, edgeOf: (subject, host) => askedBy(subject, host, (object) => markerOf(object)), close }
}

/** The account that manifests would lead to: the one of the flags, or else an empty one. */
export async function viewOfManifests(
  flags: ViewFlags,
  environment: Environment,
  namespace: string,
): Promise<OpenedView> {
  const config = flags.manifestsAlone ? undefined : accountFromFlags(flags, environment)
  const live = config && openLive(config, environment)
  const manifests = (await Promise.all(flags.filename.map((path) => readManifestsAt(path)))).flat()
  const registry = new KindsRegistry(allKinds)
  const request = {
    kinds: registry,
    manifests,
    namespace,
    config: config ?? NO_ACCOUNT,
    reader: live?.account ?? { list: () => Promise.resolve({ objects: [], beganAt: 0, pages: 1, leftOut: 0 }) },
    logger: createLogger('silent'),
  }
  const scene = await prepareScene(request)
  const { account } = scene
  const operator = operatorOver(request, scene, { client: account, writesSent: () => account.writes.length })
  await operator.run()
  const unplanned = (await unplannedAmong(operator, scene)).flatMap(({ resource, message }) => {
    const spec = operator.ended(resource)?.cr.spec
    const collection = spec && registry.managedKind(resource.kind)?.identity.collectionOf(spec)
    return collection === undefined
      ? []
      : [{ path: collection.path, why: `${resource.kind}/${resource.name}: ${message}` }]
  })
  const unread = live !== undefined || flags.manifestsAlone ? undefined : UNREAD
  const others = ({ path }: Collection): string | undefined =>
    unplanned.find((each) => each.path === path)?.why ?? unread
  const placed = manifests.map(({ manifest: { kind, metadata }, file, line }) => {
    return [placeKey({ kind, namespace, ...metadata }), `${file}:${line}`] as const
  })
  const view = plannedView(account, { places: new Map(placed), others, isAlone: flags.manifestsAlone })
  const writers = new Map(account.writes.map(({ id, origin }) => [id, origin.resource]))
  const holderOf = (object: RemoteObject): ResourceName | undefined => writers.get(object.id) ?? markerOf(object)
  return {
    view,
    edgeOf: (subject, host) => askedBy(subject, host, holderOf),
    close: () => live?.close() ?? Promise.resolve(),
  }
}

const UNREAD = 'the account was not read: set --base-url and CULVERT_API_KEY, or --manifests-alone'

/** Never called. */
const NO_ACCOUNT: SessionConfig = {
  baseURL: 'https://account.invalid',
  apiKey: 'none',
  versionHeader: accountDefaults.versionHeader,
  caBundle: undefined,
  requestsPerMinute: undefined,
  burst: undefined,
}

/**
 * The accounts of a cluster's edges: live, if their keys may be read, else what resources show of them. Resources are
 * read once, and each account once for each namespace that asks.
 */
export async function viewsOfCluster(
  cluster: Cluster,
  environment: Environment,
  flags: ViewFlags,
): Promise<(subject: Subject) => Promise<OpenedView>> {
  const { kinds, kube, namespace } = cluster
  const resources = await readResources(cluster)
  const snapshot = new Snapshot(kinds, kube)
  snapshot.hold(resources)
  const opened = new Map<string, Promise<OpenedView>>()
  const edgeOf: OpenedView['edgeOf'] = (asked, host) => {
    if (!('descriptor' in asked)) return { ...asked, host: host ?? asked.host }
    const id = resources.find((resource) => isSubject(resource, asked))?.status?.id
    return { isAsked: (object) => object.id === id, host }
  }
  const open = async (home: string, key: AccountKey | undefined): Promise<OpenedView> => {
    const account = key && (await snapshot.readAccount(key))
    const readable = { kinds, resources, namespace: home }
    const access = await accessTo(cluster, account, { flags, environment })
    if (typeof access !== 'string') {
      const { account: live, close } = openLive(access, environment)
      return { view: liveView(live, nowText(), readable), edgeOf, close }
    }
    const members = await Promise.all(
      resources.map(async (resource) => {
        const own = await accountInUse(snapshot, resource as StatedResource & CustomResource)
        const isMember = own !== undefined && key !== undefined && accountText(own) === accountText(key)
        return isMember || SESSION_KINDS.some((kind) => kind === resource.kind) ? [resource] : []
      }),
    )
    const { resyncInterval = accountDefaults.resyncInterval } =
      account === undefined || account instanceof CommandError ? {} : (account as unknown as AccountResource).spec
    const view = resourceView({ ...readable, resources: members.flat() }, `up to ${resyncInterval} old`, access)
    return { view, edgeOf, close: () => Promise.resolve() }
  }
  return async (subject) => {
    const found = resources.find((resource) => isSubject(resource, subject))
    const edge = found ?? ('descriptor' in subject ? await readNamed(cluster, subject) : undefined)
    const ofNamespace = { kind: 'IPPolicy', metadata: { namespace }, spec: {} }
    const key = await accountInUse(snapshot, (edge ?? ofNamespace) as StatedResource & CustomResource)
    const home = edge?.metadata.namespace ?? namespace
    const place = `${home} ${key === undefined ? '' : accountText(key)}`
    const view = opened.get(place) ?? open(home, key)
    opened.set(place, view)
    return await view
  }
}

/** Address and key of the account, or why they cannot be had. A key of the flags takes the place of its Secret. */
async function accessTo(
  cluster: Cluster,
  account: StatedResource | CommandError | undefined,
  { flags, environment }: { readonly flags: ViewFlags; readonly environment: Environment },
): Promise<SessionConfig | string> {
  if (account === undefined) return 'there is no account'
  if (account instanceof CommandError) return account.message
  const resource = account as StatedResource & AccountResource
  if (flags.apiKey !== undefined) {
    const isVerified = resource.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
    // Users who may write an Account must not choose where the key is sent.
    if (isVerified !== true) return 'the account is not Ready: set --base-url'
    const config = accountFromFlags({ ...flags, baseUrl: resource.spec.baseURL }, environment)
    if (config !== undefined) return config
  }
  try {
    const operator = operatorOf(resource, flags)
    const leader = await leaderOf(cluster.kube, cluster.clock, operator)
    const access = await readAccess(cluster, resource, operatorNamespaceOf(operator, leader))
    return access.type === 'open' ? access.config : `the account cannot be read: ${access.message}`
  } catch (error) {
    if (error instanceof CommandError && error.code === 'Forbidden') return error.message
    throw error
  }
}

/** The resources that the caller may read, of all namespaces or of its own. */
async function readResources({ kinds, kube, namespace }: Cluster): Promise<readonly StatedResource[]> {
  const wanted: ReadonlySet<string> = new Set([...SHOWING_KINDS, ...SESSION_KINDS])
  const lists = kinds.all
    .filter(({ definition }) => wanted.has(definition.kind))
    .map(async (descriptor) => {
      const list = async (namespaces: readonly string[]): Promise<readonly StatedResource[] | undefined> => {
        try {
          return await kube.listAll<StatedResource>(resourceTypeOf(descriptor), namespaces)
        } catch (error) {
          if (error instanceof CommandError && error.code === 'Forbidden') return undefined
          throw error
        }
      }
      return (await list([])) ?? (await list([namespace])) ?? []
    })
  return (await Promise.all(lists)).flat()
}

function isSubject(resource: StatedResource, subject: Subject): boolean {
  const { kind, metadata, status } = resource
  if (kind !== 'Edge') return false
  if ('descriptor' in subject) return metadata.name === subject.name && metadata.namespace === subject.namespace
  const { hostports } = (status ?? {}) as { readonly hostports?: readonly string[] }
  return hostports?.includes(`${subject.host}:${subject.port}`) === true
}

function askedBy(
  subject: Subject,
  host: string | undefined,
  holderOf: (object: RemoteObject) => ResourceName | undefined,
): AskedEdge {
  if (!('descriptor' in subject)) return { ...subject, host: host ?? subject.host }
  const isAsked = (object: RemoteObject): boolean => {
    const holder = holderOf(object)
    return holder?.kind === 'Edge' && holder.name === subject.name && holder.namespace === subject.namespace
  }
  return { isAsked, host }
}

function openLive(config: SessionConfig, { proxies }: Environment) {
  const client = openAccount(config, { clock: systemClock, proxies, timeoutMs: LIST_TIMEOUT_MS })
  const account = new DryAccount(
    patientReader(client, systemClock, () => undefined),
    systemClock,
  )
  return { account, close: () => client.close() }
}

function nowText(): string {
  return new Date(systemClock.now()).toISOString()
}
