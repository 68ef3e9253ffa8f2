import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ControlPlane } from '../../controlplane/control-plane.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { systemClock } from '../../src/util/clock.ts'
import { installCRDs } from '../builders/install-crds.ts'
import { core, type Resource, typeOf, World } from '../cluster/support/world.ts'
import { Etcd } from './etcd.ts'
import type { RecordedObject, RecordedScene, Release } from './release.ts'
import { DNS_FLAGS } from './scene.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url))

/** Besides those in `kinds`. */
const PLURALS: Readonly<Record<string, string>> = {
  Secret: 'secrets',
  ConfigMap: 'configmaps',
  Lease: 'leases',
  DNSEndpoint: 'dnsendpoints',
}

/**
 * A cluster and an account as a scene of an older release left them, including uids, with the CRDs of this version.
 * Time is that of the recording, for the operator and for the API: tokens and certificates have not aged meanwhile.
 */
export class Takeover implements AsyncDisposable {
  readonly scene: RecordedScene
  readonly world: World
  /** The recorded objects, in the scene's order. */
  readonly objects: readonly KubeObject[]
  readonly surroundings: readonly KubeObject[]

  private constructor(
    scene: RecordedScene,
    world: World,
    objects: readonly KubeObject[],
    surroundings: readonly KubeObject[],
  ) {
    this.scene = scene
    this.world = world
    this.objects = objects
    this.surroundings = surroundings
  }

  /** Prepares scenes that can be combined. Resolves once the CRDs have been upgraded; starts no operator yet. */
  static async prepare(
    cluster: ControlPlane,
    release: Release,
    scenes: readonly RecordedScene[],
  ): Promise<readonly Takeover[]> {
    const etcd = new Etcd(cluster)
    await etcd.wipe()
    await installCRDs(cluster, release.crds)
    for (const file of new Set(scenes.flatMap(({ crds }) => crds))) await installCRDs(cluster, join(FIXTURES, file))
    const prepared = await Promise.all(scenes.map((scene) => Takeover.#restore(cluster, etcd, release, scene)))
    await installCRDs(cluster)
    return prepared
  }

  static async #restore(cluster: ControlPlane, etcd: Etcd, release: Release, scene: RecordedScene): Promise<Takeover> {
    const recordedAt = Date.parse(scene.recordedAt)
    let offset: number | undefined
    // Time stands still until an operator is started, and then continues from there.
    const now = (): number => (offset === undefined ? recordedAt : systemClock.now() + offset)
    const world = await World.open({
      namespace: scene.namespace,
      setUp: false,
      operator: false,
      kubeconfig: cluster.kubeconfigPath,
      watch: scene.watch,
      leaderElect: scene.leaderElect,
      clockOffsetMs: () => (offset ??= recordedAt - systemClock.now()),
      flags: ['--installation', scene.installation, ...allowing(scene.allowHosts), ...DNS_FLAGS],
      emulator: { apiKey: scene.apiKey, clock: { ...systemClock, now } },
    })
    const origin = world.emulator.url
    world.emulator.admin.restore(await release.apiStateOf(scene, origin))
    const [objects, surroundings] = [
      await release.objectsOf(scene, origin),
      await release.surroundingsOf(scene, origin),
    ]
    // Owners first: an object without its owner is garbage collected.
    for (const object of [...objects, ...surroundings]) await etcd.put(pluralOf(object), object)
    return new Takeover(scene, world, objects, surroundings)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.world[Symbol.asyncDispose]()
  }

  /** The recording of an object in the index. */
  recorded({ kind, name, namespace }: RecordedObject): Resource {
    const found = this.objects.find((object) => {
      return object.kind === kind && object.metadata.name === name && object.metadata.namespace === namespace
    })
    if (found === undefined) throw new Error(`${kind}/${name} is not recorded`)
    return found as Resource
  }

  /** The object in its current state. */
  async now({ kind, name, namespace }: RecordedObject): Promise<Resource | undefined> {
    return this.world.kube.get<Resource>(typeOf(kind), { namespace, name })
  }

  /** All custom resources of a kind in their current state. */
  async list(kind: string): Promise<readonly Resource[]> {
    const type = typeOf(kind)
    const { watch, namespace } = this.scene
    if (watch === 'namespace' && !type.namespaced) return []
    return (await this.world.kube.list<Resource>(type, watch === 'namespace' ? { namespace } : {})).items
  }

  /** A Secret in its current state. */
  async secretLike({ metadata }: KubeObject): Promise<KubeObject | undefined> {
    const { namespace, name } = metadata
    return this.world.kube.get<KubeObject>(core('secrets', 'Secret'), { namespace, name })
  }
}

/** Flags that allow these hosts to the operator. */
export function allowing(hosts: readonly string[]): readonly string[] {
  return hosts.flatMap((host) => ['--allow-api-host', host])
}

function pluralOf({ kind }: KubeObject): string {
  const plural = kinds.find(({ definition }) => definition.kind === kind)?.definition.plural ?? PLURALS[kind]
  if (plural === undefined) throw new Error(`where is ${kind} stored?`)
  return plural
}
