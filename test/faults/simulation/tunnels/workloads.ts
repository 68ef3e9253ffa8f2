import type { KubeObject } from '../../../../src/kube/types.ts'
import { isDeleting } from '../../../../src/managed/cr.ts'
import { secretType } from '../../../../src/managed/inputs/inputs.ts'
import { type Deployment, mountedSecret } from '../../../../src/managed/tunnels/deployment.ts'
import { GRACE_SECONDS } from '../../../../src/managed/tunnels/objects.ts'
import { deploymentType, workloadTypes } from '../../../../src/managed/tunnels/tunnel.ts'
import { equalJSON } from '../../../../src/util/equal-json.ts'
import { conditionNamed } from '../oracle.ts'
import type { SimulatedWorld } from '../world.ts'

/** How long a rollout takes, and how long the garbage collector. Milliseconds. */
const ROLLOUT_MS = 2_000
const GARBAGE_MS = 1_000

/**
 * Kubernetes' part of Tunnels: Deployments roll out, former agents drain, and what has no owner is deleted. Agents are
 * connected while the key that they mount is there and its credential can be used, which is checked at every moment.
 */
export class Workloads {
  readonly violations: string[] = []
  readonly #world: SimulatedWorld
  /** Secrets that running agents use. */
  readonly #used = new Set<string>()
  readonly #rolledOut = new Map<string, number>()

  constructor(world: SimulatedWorld) {
    this.#world = world
    const { kube } = world
    kube.listen(deploymentType, kube.revision, ({ type, object }) => {
      if (type === 'deleted') this.#used.clear()
      else this.#follow(object as Deployment)
    })
    const keys = new Map<string, unknown>()
    kube.listen(secretType, kube.revision, ({ type, object }) => {
      const { uid, name } = object.metadata
      if (type === 'deleted') this.#lost(name, 'its Secret was deleted')
      else if (keys.has(uid) && !equalJSON(keys.get(uid), object.data)) this.#say(`Secret/${name} got another content`)
      keys.set(uid, object.data)
    })
    kube.listen(world.typeOf('SSHCredential'), kube.revision, ({ type, object }) => {
      if (type === 'deleted' || isDeleting(object)) this.#lost(object.metadata.name, 'its SSHCredential was deleted')
    })
    kube.listen(world.typeOf('Tunnel'), kube.revision, ({ type }) => {
      if (type === 'deleted') world.time.setTimer(GARBAGE_MS, () => this.#collectGarbage())
    })
    // A request on its way may still make something of a Tunnel that is gone.
    for (const owned of this.#ownedTypes) {
      kube.listen(owned, kube.revision, ({ type, object }) => {
        const { ownerReferences = [] } = object.metadata
        if (type !== 'added' || ownerReferences.length === 0) return
        world.time.setTimer(GARBAGE_MS, () => world.kube.collectGarbage(owned))
      })
    }
  }

  /** Everything that a Tunnel can own. */
  owned(): readonly KubeObject[] {
    return this.#ownedTypes
      .flatMap((type) => this.#world.kube.list(type).items)
      .filter(({ metadata }) => {
        return metadata.ownerReferences?.some(({ kind }) => kind === 'Tunnel')
      })
  }

  get #ownedTypes() {
    return [...workloadTypes, secretType, this.#world.typeOf('SSHCredential')]
  }

  #follow(deployment: Deployment): void {
    const { name, namespace, generation = 1 } = deployment.metadata
    if (this.#rolledOut.get(name) === generation) return
    this.#rolledOut.set(name, generation)
    const secret = mountedSecret(deployment)
    if (secret !== undefined) this.#used.add(secret)
    this.#world.time.setTimer(ROLLOUT_MS, () => {
      const now = this.#world.kube.get<Deployment>(deploymentType, { namespace, name })
      if (now === undefined || now.metadata.generation !== generation || secret === undefined) return
      this.#checkCredential(secret)
      const replicas = now.spec?.replicas ?? 1
      const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas }
      const status = { observedGeneration: generation, ...counts }
      this.#world.server.patch(deploymentType, { namespace, name }, { status }, { subresource: 'status' })
      const former = [...this.#used].filter((each) => each !== secret)
      this.#world.time.setTimer(GRACE_SECONDS * 1000, () => {
        for (const each of former) this.#used.delete(each)
      })
    })
  }

  #checkCredential(secret: string): void {
    const credential = this.#world.get('SSHCredential', secret)
    if (credential === undefined || conditionNamed(credential, 'Ready')?.status !== 'True') {
      this.#say(`agents got the key ${secret}, whose credential is not Ready`)
    }
  }

  /** Nothing is lost that agents use, unless their Tunnel goes, or a person takes it. */
  #lost(name: string, how: string): void {
    const tunnels = this.#world.kube.list(this.#world.typeOf('Tunnel')).items
    if (this.#used.has(name) && tunnels.length > 0 && !this.taken.has(name)) this.#say(`${name} is in use, and ${how}`)
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
