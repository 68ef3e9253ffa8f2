import { secretType } from '../../../../src/kube/core-types.ts'
import type { KubeObject } from '../../../../src/kube/types.ts'
import { isDeleting } from '../../../../src/managed/cr.ts'
import { resourceTypeOf } from '../../../../src/managed/kinds-registry.ts'
import { partKinds } from '../../../../src/managed/services/objects.ts'
import { serviceType } from '../../../../src/managed/services/service.ts'
import { type Deployment, mountedSecret } from '../../../../src/managed/tunnels/deployment.ts'
import { GRACE_SECONDS } from '../../../../src/managed/tunnels/pod.ts'
import { deploymentType, workloadTypes } from '../../../../src/managed/tunnels/tunnel-resource.ts'
import { equalJSON } from '../../../../src/util/json.ts'
import { conditionNamed } from '../oracle.ts'
import type { SimulatedWorld } from '../world.ts'

/** How long a rollout takes, and how long the garbage collector. Milliseconds. */
const ROLLOUT_MS = 2_000
const GARBAGE_MS = 1_000

/** The kinds whose resources Tunnels and Services own. */
const OWNED_KINDS: ReadonlySet<string> = new Set(['SSHCredential', 'TunnelCredential', ...partKinds])

/** What agents connect with, by the name of its Secret. */
const CREDENTIALS = ['SSHCredential', 'TunnelCredential']

/** Whether it is a Secret with a key: the Secret with a token gets another when that is reissued. */
function isKey({ metadata }: KubeObject): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === 'Tunnel') ?? false
}

/** A running Deployment. */
interface Agents {
  /** UID of its Tunnel. */
  readonly tunnel: string | undefined
  /** Secrets that they use. */
  readonly used: Set<string>
}

/**
 * Kubernetes' part of Tunnels and Services: Deployments roll out, former agents drain, and what has no owner is
 * deleted. Agents are connected while the key that they mount exists and its credential can be used, which is checked
 * at every moment.
 */
export class Workloads {
  readonly violations: string[] = []
  readonly #world: SimulatedWorld
  /** By name of the Deployment. */
  readonly #agents = new Map<string, Agents>()
  /** Generations that roll out, or have, by UID. */
  readonly #rolledOut = new Map<string, number>()

  constructor(world: SimulatedWorld) {
    this.#world = world
    const { kube } = world
    kube.listen(deploymentType, kube.revision, ({ type, object }) => {
      if (type === 'deleted') this.#agents.delete(object.metadata.name)
      else this.#follow(object as Deployment)
    })
    const keys = new Map<string, unknown>()
    kube.listen(secretType, kube.revision, ({ type, object }) => {
      const { uid, name } = object.metadata
      if (type === 'deleted') this.#lost(name, 'its Secret was deleted')
      else if (isKey(object) && keys.has(uid) && !equalJSON(keys.get(uid), object.data)) {
        this.#say(`Secret/${name} got another content`)
      }
      keys.set(uid, object.data)
    })
    for (const kind of this.#credentials) {
      kube.listen(world.typeOf(kind), kube.revision, ({ type, object }) => {
        if (type === 'deleted' || isDeleting(object)) this.#lost(object.metadata.name, `its ${kind} was deleted`)
      })
    }
    for (const owner of [world.typeOf('Tunnel'), serviceType]) {
      kube.listen(owner, kube.revision, ({ type }) => {
        if (type === 'deleted') world.time.setTimer(GARBAGE_MS, () => this.#collectGarbage())
      })
    }
    // A request on its way may still make something of an owner that is gone.
    for (const owned of this.#ownedTypes) {
      kube.listen(owned, kube.revision, ({ type, object }) => {
        const { ownerReferences = [] } = object.metadata
        if (type !== 'added' || ownerReferences.length === 0) return
        world.time.setTimer(GARBAGE_MS, () => world.kube.collectGarbage(owned))
      })
    }
  }

  /** Everything that a Tunnel or a Service owns. */
  owned(): readonly KubeObject[] {
    return this.#ownedTypes
      .flatMap((type) => this.#world.kube.list(type).items)
      .filter(({ metadata }) => {
        return metadata.ownerReferences?.some(({ kind }) => kind === 'Tunnel' || kind === serviceType.kind)
      })
  }

  get #credentials(): readonly string[] {
    return CREDENTIALS.filter((kind) => this.#world.kinds.managedKind(kind) !== undefined)
  }

  get #ownedTypes() {
    const kinds = this.#world.kinds.all.filter(({ definition: { kind } }) => OWNED_KINDS.has(kind))
    return [...workloadTypes, secretType, ...kinds.map(resourceTypeOf)]
  }

  #follow(deployment: Deployment): void {
    const { uid, name, namespace, generation = 1 } = deployment.metadata
    if (this.#rolledOut.get(uid) === generation) return
    this.#rolledOut.set(uid, generation)
    const secret = mountedSecret(deployment)
    const tunnel = deployment.metadata.ownerReferences?.[0]?.uid
    const { used } = this.#agents.get(name) ?? { used: new Set<string>() }
    this.#agents.set(name, { tunnel, used })
    if (secret !== undefined) used.add(secret)
    this.#world.time.setTimer(ROLLOUT_MS, () => {
      const now = this.#world.kube.get<Deployment>(deploymentType, { namespace, name })
      if (now?.metadata.uid !== uid || now.metadata.generation !== generation || secret === undefined) return
      this.#checkCredential(secret)
      const replicas = now.spec?.replicas ?? 1
      const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas }
      const status = { observedGeneration: generation, ...counts }
      this.#world.server.patch(deploymentType, { namespace, name }, { status }, { subresource: 'status' })
      const former = [...used].filter((each) => each !== secret)
      this.#world.time.setTimer(GRACE_SECONDS * 1000, () => {
        for (const each of former) used.delete(each)
      })
    })
  }

  #checkCredential(secret: string): void {
    const credential = this.#credentials
      .map((kind) => this.#world.get(kind, secret))
      .find((found) => found !== undefined)
    if (credential === undefined || conditionNamed(credential, 'Ready')?.status !== 'True') {
      this.#say(`agents got the key ${secret}, whose credential is not Ready`)
    }
  }

  /** Nothing is lost that agents use, unless their Tunnel goes, or a person takes it. */
  #lost(name: string, how: string): void {
    const tunnels = new Set(
      this.#world.kube.list(this.#world.typeOf('Tunnel')).items.map(({ metadata }) => metadata.uid),
    )
    const isUsed = [...this.#agents.values()].some(({ tunnel = '', used }) => tunnels.has(tunnel) && used.has(name))
    if (isUsed && !this.taken.has(name)) this.#say(`${name} is in use, and ${how}`)
  }

  /** Names of Secrets that a person deletes. */
  readonly taken = new Set<string>()

  #say(violation: string): void {
    this.violations.push(violation)
  }

  #collectGarbage(): void {
    for (const type of this.#ownedTypes) this.#world.kube.collectGarbage(type)
  }
}
