import { inject } from 'vitest'
import { KubeProxy } from '../../builders/kube-proxy.ts'
import { LaneFinder } from './priorities.ts'
import { type Find, Stops } from './stops.ts'
import { World } from './world.ts'

export interface StageOptions {
  /** The number of resources: a stopped request holds its worker, and the others must reach their stops too. */
  readonly resources: number
  /** Further Accounts, initially with the key of `default`. */
  readonly accounts?: readonly string[]
  /** Further flags of the operator. */
  readonly flags?: readonly string[]
  /** Whether the operator takes a Lease. Default false. */
  readonly leaderElect?: boolean
}

/** A world whose operator uses proxies to the apiserver and, for each Account, to the emulator. */
export class Stage implements AsyncDisposable {
  readonly world: World
  readonly stops: Stops
  readonly #resources: AsyncDisposableStack
  readonly #flags: readonly string[]

  private constructor(world: World, stops: Stops, resources: AsyncDisposableStack, flags: readonly string[]) {
    this.world = world
    this.stops = stops
    this.#resources = resources
    this.#flags = flags
  }

  /** Does not start the operator yet. */
  static async open({
    resources: count,
    accounts = [],
    flags = [],
    leaderElect = false,
  }: StageOptions): Promise<Stage> {
    await using resources = new AsyncDisposableStack()
    const kube = resources.use(await KubeProxy.start(inject('kubeconfigPath')))
    const workers = String(2 * count)
    const own = ['--kubeconfig', kube.kubeconfigPath, '--workers', workers, ...flags]
    const world = resources.use(await World.open({ operator: false, flags: own, leaderElect }))
    const finder = new LaneFinder(world)
    const proxies: (readonly [KubeProxy, Find])[] = [[kube, (request) => finder.atKube(request)]]
    // An Account's address is immutable: the world's own is recreated.
    await world.delete('Account', 'default')
    for (const name of ['default', ...accounts]) {
      const api = resources.use(await KubeProxy.inFrontOf(world.emulator.url))
      const apiKeySecretRef = { name: 'credentials' }
      const { metadata } = await world.apply('Account', name, { baseURL: api.url, apiKeySecretRef })
      finder.addAccount(name, metadata.uid)
      proxies.push([api, (request) => finder.atApi(request, `Account/${name}`)])
    }
    const hosts = proxies.slice(1).flatMap(([{ url }]) => ['--allow-api-host', new URL(url).host])
    return new Stage(world, new Stops(proxies), resources.move(), hosts)
  }

  /** Starts the operator, initially or again; discards its predecessor's requests. */
  async startOperator(): Promise<void> {
    this.stops.begin()
    await this.world.startOperator(this.#flags)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stops.releaseAll()
    await this.#resources.disposeAsync()
  }
}
