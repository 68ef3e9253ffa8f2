import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { kinds } from '../../src/kinds/index.ts'
import type { KubeObject, ResourceType } from '../../src/kube/types.ts'
import { resourceTypeOf } from '../../src/managed/kinds-registry.ts'
import { installationId } from '../../src/operator/installation.ts'
import { conditionOf, core, type Resource, type World } from '../cluster/support/world.ts'
import { API_STATE, ORIGIN, type RecordedObject, type RecordedScene, SURROUNDINGS } from './release.ts'
import type { Scene, Subject } from './scene.ts'

/** Types of other projects or of Kubernetes in which Culvert stores something. */
const AROUND: readonly ResourceType[] = [
  core('secrets', 'Secret'),
  core('configmaps', 'ConfigMap'),
  { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease', namespaced: true },
  { group: 'externaldns.k8s.io', version: 'v1alpha1', plural: 'dnsendpoints', kind: 'DNSEndpoint', namespaced: true },
]

/** Kubernetes creates it in each namespace. */
const OF_KUBERNETES = 'kube-root-ca.crt'

/**
 * Writes what the operator of a scene has left into a folder of the scene's name.
 *
 * @throws Error if an object is not Ready that the scene does not name, or one that it names does not exist.
 */
export async function record(world: World, scene: Scene, subjects: readonly Subject[], folder: string) {
  const place = join(folder, scene.name)
  await rm(place, { recursive: true, force: true })
  await mkdir(place, { recursive: true })
  const recordedAt = new Date().toISOString()
  const write = (file: string, text: string) =>
    writeFile(join(folder, file), text.replaceAll(world.emulator.url, ORIGIN))
  const unclaimed = new Set(subjects)
  const objects: RecordedObject[] = []
  for (const cr of await customResources(world)) {
    const subject = subjects.find((each) => isAbout(each, cr, world))
    if (subject !== undefined) unclaimed.delete(subject)
    const recorded = describe(cr, subject, scene)
    if (objects.some(({ file }) => file === recorded.file)) throw new Error(`${recorded.file} stands for two objects`)
    objects.push(recorded)
    await write(recorded.file, yaml(cr))
  }
  const [missing] = unclaimed
  if (missing !== undefined) throw new Error(`${scene.name}: there is no ${missing.kind}/${missing.name}`)
  await write(join(scene.name, SURROUNDINGS), (await surroundings(world)).map(yaml).join('---\n'))
  await write(join(scene.name, API_STATE), `${JSON.stringify(world.emulator.admin.snapshot(), null, 1)}\n`)
  const index: RecordedScene = {
    name: scene.name,
    about: scene.about,
    recordedAt,
    installation: await installationId(world.kube, world.operatorNamespace, 'culvert'),
    namespace: world.namespace,
    apiKey: world.emulator.apiKey,
    watch: scene.world?.watch ?? 'namespace',
    leaderElect: scene.world?.leaderElect ?? false,
    allowHosts: scene.allowHosts ?? [],
    crds: scene.crds ?? [],
    objects,
  }
  return index
}

/** From all namespaces that a scene may have used: the cluster has no other resources of Culvert. */
async function customResources({ kube }: World): Promise<readonly Resource[]> {
  const lists = await Promise.all(kinds.map((descriptor) => kube.list<Resource>(resourceTypeOf(descriptor), {})))
  return lists.flatMap(({ items }, index) => {
    const kind = kinds[index]?.definition.kind ?? ''
    return items.map((item) => ({ ...item, apiVersion: 'culvert.dev/v1alpha1', kind }))
  })
}

function isAbout(subject: Subject, { kind, metadata }: Resource, world: World): boolean {
  const namespace = subject.namespace ?? (metadata.namespace === undefined ? undefined : world.namespace)
  return subject.kind === kind && subject.name === metadata.name && namespace === metadata.namespace
}

function describe(cr: Resource, subject: Subject | undefined, { name: scene }: Scene): RecordedObject {
  const { kind, metadata } = cr
  if (subject === undefined && !isAtRest(cr)) {
    throw new Error(`${scene}: ${kind}/${metadata.name} is not Ready: ${JSON.stringify(cr.status)}`)
  }
  const short = metadata.name.replace(`${kind.toLowerCase()}-`, '')
  return {
    file: `${scene}/${kind.toLowerCase()}.${short}.yaml`,
    kind,
    name: metadata.name,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    state: subject?.state ?? 'Ready',
    phase: subject?.phase ?? 'Current',
    after: subject === undefined ? 'Current' : (subject.after ?? 'same'),
  }
}

/** Ready and Synced for its current spec, and not being deleted. */
export function isAtRest(cr: Resource): boolean {
  const { generation, deletionTimestamp } = cr.metadata
  // A resource that only mirrors the API has no conditions.
  if (cr.status?.conditions === undefined) return deletionTimestamp === undefined && cr.status?.id !== undefined
  const conditions = ['Ready', 'Synced'].map((type) => conditionOf(cr, type)).filter((each) => each !== undefined)
  const met = conditions.every(
    ({ status, observedGeneration }) => status === 'True' && observedGeneration === generation,
  )
  return deletionTimestamp === undefined && conditions.length > 0 && met
}

async function surroundings(world: World): Promise<readonly KubeObject[]> {
  const namespaces = await world.kube.list<KubeObject>(core('namespaces', 'Namespace', false), {})
  const own = namespaces.items.filter(({ metadata }) => metadata.name.startsWith(world.namespace))
  const found: KubeObject[] = []
  for (const type of AROUND) {
    for (const { metadata } of own) {
      const { items } = await world.kube
        .list<KubeObject>(type, { namespace: metadata.name })
        .catch(() => ({ items: [] }))
      const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`
      found.push(...items.map((item) => ({ ...item, apiVersion, kind: type.kind })))
    }
  }
  return found.filter(({ metadata }) => metadata.name !== OF_KUBERNETES)
}

/** Without fields that the apiserver sets at each write. */
function yaml({ apiVersion, kind, metadata, ...rest }: KubeObject): string {
  const { managedFields, resourceVersion, ...kept } = metadata as KubeObject['metadata'] & { managedFields?: unknown }
  return stringify({ apiVersion, kind, metadata: kept, ...rest }, { lineWidth: 0 })
}
