import type { ApiClient, RemoteObject } from '../../api/types.ts'
import { namespaceType, secretType } from '../../kube/core-types.ts'
import type { KubeObject, ResourceType } from '../../kube/types.ts'
import type { AccountName } from '../../managed/attempt.ts'
import { type CustomResource, externalId, nameOf, type ResourceName } from '../../managed/cr.ts'
import { accountDefaults } from '../../managed/descriptor/account.ts'
import type { ManagedDescriptor } from '../../managed/descriptor/descriptor.ts'
import type { KindsRegistry } from '../../managed/kinds-registry.ts'
import { isNamesake, markerOf } from '../../managed/markers/marker.ts'
import { GROUP } from '../../managed/names.ts'
import { accountOf } from '../../managed/references/account-choice.ts'
import type { Manifest, ManifestAt } from '../manifests.ts'
import type { DryAccount } from './dry-account.ts'
import { type DryCluster, typesByKind } from './dry-cluster.ts'
import { remembered } from './remembered.ts'

/** A manifest of a resource with a remote object. */
export interface PlannedResource {
  readonly at: ManifestAt
  readonly descriptor: ManagedDescriptor
  readonly name: ResourceName
}

/** The input of a plan cannot be planned. The message says what is wrong, and the remedy. */
export class PlanError extends Error {
  override readonly name = 'PlanError'
  readonly code = 'CANNOT_PLAN'
}

/** The manifests of resources with remote objects, in their order. @throws PlanError if two have the same name */
export function plannedResources(
  kinds: KindsRegistry,
  manifests: readonly ManifestAt[],
  namespace: string,
): readonly PlannedResource[] {
  const seen = new Map<string, ManifestAt>()
  return manifests.flatMap((at) => {
    const { apiVersion, kind, metadata } = at.manifest
    const descriptor = apiVersion.startsWith(`${GROUP}/`) ? kinds.managedKind(kind) : undefined
    if (descriptor === undefined) return []
    const name = { kind, namespace: metadata.namespace ?? namespace, name: metadata.name }
    const key = `${name.kind} ${name.namespace}/${name.name}`
    const other = seen.get(key)
    if (other !== undefined) {
      throw new PlanError(`${place(at)} and ${place(other)} both describe ${key}: remove one of them`)
    }
    seen.set(key, at)
    return [{ at, descriptor, name }]
  })
}

/** Where a manifest was read, for messages. */
function place({ file, line }: Pick<ManifestAt, 'file' | 'line'>): string {
  return `${file}:${line}`
}

/** Puts the manifests into the cluster in memory, as an author who applies them. */
export function putManifests(
  kinds: KindsRegistry,
  cluster: DryCluster,
  manifests: readonly ManifestAt[],
  namespace: string,
): void {
  const types = typesByKind(kinds)
  for (const { manifest } of manifests) {
    const type = types.get(manifest.kind)
    if (type === undefined || manifest.apiVersion.split('/').at(-2) !== (type.group || undefined)) continue
    putManifest(cluster, type, manifest, namespace)
  }
}

/** The apiserver gives every namespace this label, with its name. */
const NAME_LABEL = 'kubernetes.io/metadata.name'

function putManifest(cluster: DryCluster, type: ResourceType, manifest: Manifest, namespace: string): void {
  const key = {
    name: manifest.metadata.name,
    ...(type.namespaced ? { namespace: manifest.metadata.namespace ?? namespace } : {}),
  }
  const known = cluster.known<KubeObject>(type, key)
  const { status: _status, ...given } = manifest
  const content = type.kind === 'Secret' ? withData(given) : given
  const generation = known?.metadata.generation ?? 0
  const isEdited = JSON.stringify(known?.spec) !== JSON.stringify(manifest.spec)
  cluster.put(type, {
    ...content,
    ...(known?.status === undefined ? {} : { status: known.status }),
    metadata: {
      ...known?.metadata,
      ...manifest.metadata,
      labels: {
        ...known?.metadata.labels,
        ...labelsIn(manifest, 'labels'),
        ...(type.plural === namespaceType.plural ? { [NAME_LABEL]: key.name } : {}),
      },
      annotations: { ...known?.metadata.annotations, ...labelsIn(manifest, 'annotations') },
      ...key,
      generation: isEdited ? generation + 1 : Math.max(generation, 1),
    },
  })
}

function labelsIn({ metadata }: Manifest, field: 'labels' | 'annotations'): Readonly<Record<string, string>> {
  return (metadata as { readonly [Field in typeof field]?: Readonly<Record<string, string>> })[field] ?? {}
}

/** `stringData` as the apiserver stores it. */
function withData({ stringData, data, ...rest }: Omit<Manifest, 'status'> & Record<string, unknown>): Manifest {
  const texts = Object.entries((stringData ?? {}) as Readonly<Record<string, string>>)
  const encoded = Object.fromEntries(texts.map(([key, text]) => [key, Buffer.from(text).toString('base64')]))
  return { ...rest, data: { ...(data as object | undefined), ...encoded } } as unknown as Manifest
}

/**
 * Adds what a plan without a cluster needs and the manifests leave out: namespaces, the accounts that resources name,
 * and Secrets that only the cluster has. Each of the accounts is the one that the plan is made for.
 */
export function completeScene(
  kinds: KindsRegistry,
  cluster: DryCluster,
  resources: readonly PlannedResource[],
  baseURL: string,
): void {
  for (const { name, descriptor } of resources) {
    const { namespace = '' } = name
    if (cluster.known(namespaceType, { name: namespace }) === undefined) {
      const labels = { [NAME_LABEL]: namespace }
      cluster.put(namespaceType, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } })
    }
    const cr = find(cluster, kinds, name)
    if (cr === undefined) continue
    completeAccount(kinds, cluster, cr, baseURL)
    for (const { source, ref } of descriptor.inputs?.of(cr.spec) ?? []) {
      if (source === 'Secret') completeSecret(cluster, { namespace, name: ref.name }, ref.key)
    }
  }
}

function completeAccount(kinds: KindsRegistry, cluster: DryCluster, cr: CustomResource, baseURL: string): void {
  const { accountRef } = cr.spec
  const { namespace = '' } = cr.metadata
  const wanted: AccountName = { kind: accountRef?.kind ?? 'Account', name: accountRef?.name ?? 'default' }
  const has = ({ kind, name }: AccountName): boolean => {
    const key = kind === 'Account' ? { namespace, name } : { name }
    return cluster.known<KubeObject>(kinds.accountType(kind), key) !== undefined
  }
  const isThere = has(wanted) || (accountRef === undefined && has({ kind: 'ClusterAccount', name: 'default' }))
  if (isThere) return
  const spec = { baseURL, apiKeySecretRef: { name: 'culvert-plan', key: accountDefaults.apiKeySecretKey } }
  // What the real account allows is not known: a plan says what becomes of specs that it allows.
  const namespaceSelector = { matchExpressions: [{ key: NAME_LABEL, operator: 'Exists' as const }] }
  const allowed = { namespaceSelector, kinds: kinds.managed.map(({ definition }) => definition.kind) }
  const access = wanted.kind === 'Account' ? {} : { access: [{ ...allowed, unmanagedObjects: 'Adopt' as const }] }
  cluster.put(kinds.accountType(wanted.kind), {
    apiVersion: `${GROUP}/v1alpha1`,
    kind: wanted.kind,
    metadata: { name: wanted.name, ...(wanted.kind === 'Account' ? { namespace } : {}) },
    spec: { ...spec, ...access },
  })
}

/** The text of a Secret's key that only the cluster has. */
const SECRET_TEXT = 'known in the cluster only'

function completeSecret(
  cluster: DryCluster,
  at: { readonly namespace: string; readonly name: string },
  key: string,
): void {
  const known = cluster.known<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(secretType, at)
  if (known?.data?.[key] !== undefined) return
  const data = { ...known?.data, [key]: Buffer.from(SECRET_TEXT).toString('base64') }
  cluster.put(secretType, { ...known, apiVersion: 'v1', kind: 'Secret', metadata: { ...known?.metadata, ...at }, data })
}

/** What the marks in an account say. */
interface Recognised {
  readonly installation: string
  /** Resources without a marker whose metadata no object has: they may be new, or their metadata was edited. */
  readonly unrecognised: readonly ResourceName[]
}

/** Gives each resource what the operator would remember of it, from the objects that the account has. */
export async function rememberObjects(
  kinds: KindsRegistry,
  cluster: DryCluster,
  account: DryAccount,
  resources: readonly PlannedResource[],
  asked: string | undefined,
): Promise<Recognised> {
  const found = await Promise.all(
    resources.map(async (resource) => {
      const cr = find(cluster, kinds, resource.name)
      if (cr === undefined) throw new Error(`${resource.name.name} was not added to the scene`)
      const objects = await account.objects(resource.descriptor.identity.collectionOf(cr.spec))
      return { ...resource, cr, objects: [...objects.values()] }
    }),
  )
  const installation = asked ?? installationOf(found)
  const unrecognised: ResourceName[] = []
  const types = typesByKind(kinds)
  const context = choicesIn(cluster, kinds)
  for (const { cr, descriptor, objects } of found) {
    const name = accountOf(context, cr)
    const type = types.get(cr.kind)
    if (name === undefined || type === undefined) continue
    const { cr: held, secret } = remembered(descriptor, cr, objects, { account: name, installation })
    if (held === cr) {
      if (cr.spec.rawMetadata !== undefined && externalId(cr) === undefined) unrecognised.push(nameOf(cr))
      continue
    }
    cluster.put(type, held)
    if (secret !== undefined) cluster.put(secretType, secret)
  }
  return { installation, unrecognised }
}

/** The installation whose marks most of the objects carry that are for these resources. */
function installationOf(found: readonly { readonly cr: CustomResource; readonly objects: readonly RemoteObject[] }[]) {
  const counts = new Map<string, number>()
  for (const { cr, objects } of found) {
    for (const object of objects) {
      const marker = markerOf(object)
      if (marker === undefined || !isNamesake(marker, cr)) continue
      counts.set(marker.installation, (counts.get(marker.installation) ?? 0) + 1)
    }
  }
  const [most, ...others] = [...counts].sort(([, left], [, right]) => right - left)
  if (most === undefined) return 'plan'
  if (others.length > 0) {
    const names = [...counts.keys()].map((name) => JSON.stringify(name)).join(', ')
    throw new PlanError(
      `several installations of Culvert have objects for these resources (${names}): choose one with --installation`,
    )
  }
  return most[0]
}

function find(cluster: DryCluster, kinds: KindsRegistry, name: ResourceName): CustomResource | undefined {
  const type = typesByKind(kinds).get(name.kind)
  return type && cluster.known(type, name)
}

/** From what the operator chooses the account of a resource. */
export function choicesIn(cluster: DryCluster, kinds: KindsRegistry) {
  const resources = {
    get: (name: ResourceName) => find(cluster, kinds, name),
    namespace: (name: string) => cluster.known<KubeObject>(namespaceType, { name }),
    hasAccount: ({ kind, name }: AccountName, namespace: string) => {
      const key = kind === 'Account' ? { namespace, name } : { name }
      return cluster.known<KubeObject>(kinds.accountType(kind), key) !== undefined
    },
  }
  return { kinds, resources }
}

/** What reads the account of a plan. */
export type AccountReader = Pick<ApiClient, 'list'>
