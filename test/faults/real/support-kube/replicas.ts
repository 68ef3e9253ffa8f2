import { inject } from 'vitest'
import { KubeProxy } from '../../../builders/kube-proxy.ts'
import { LaneFinder } from '../../../cluster/support/priorities.ts'
import { type Replica, SHORT_LEASE, startReplica } from '../../../cluster/support/replica.ts'
import { World } from '../../../cluster/support/world.ts'
import { Writes } from './writes.ts'

/** Operators of one Lease, started in sequence, with their writes to Kubernetes and to the API recorded. */
export class Replicas implements AsyncDisposable {
  readonly world: World
  readonly writes = new Writes()
  /** Between all of them and the API. */
  readonly api: KubeProxy
  readonly #finder: LaneFinder
  readonly #resources: AsyncDisposableStack

  private constructor(world: World, api: KubeProxy, resources: AsyncDisposableStack) {
    this.world = world
    this.api = api
    this.#finder = new LaneFinder(world)
    this.#resources = resources
    this.writes.follow(api, (request) => this.#finder.atApi(request, 'none'))
  }

  /** Starts no operator yet. */
  static async open(): Promise<Replicas> {
    await using resources = new AsyncDisposableStack()
    const flags = [...SHORT_LEASE, '--workers', '32']
    const world = resources.use(await World.open({ leaderElect: true, operator: false, setUp: false, flags }))
    const api = resources.use(await KubeProxy.inFrontOf(world.emulator.url))
    await world.setKey(world.emulator.apiKey)
    const apiKeySecretRef = { name: 'credentials' }
    await world.apply('Account', 'default', { baseURL: api.url, apiKeySecretRef, resyncInterval: '10m' })
    return new Replicas(world, api, resources.move())
  }

  /** Resolves when it holds the Lease, or waits for it with warm caches. */
  async start(): Promise<Replica> {
    const kube = this.#resources.use(await KubeProxy.start(inject('kubeconfigPath')))
    this.writes.follow(kube, (request) => this.#finder.atKube(request))
    return startReplica(this.world, kube, ['--allow-api-host', new URL(this.api.url).host])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.writes.release()
    await this.#resources.disposeAsync()
  }
}
