import { inject } from 'vitest'
import { KubeProxy } from '../../builders/kube-proxy.ts'
import { LaneFinder } from './priorities.ts'
import { type Find, Stops } from './stops.ts'
import { World } from './world.ts'

export interface StageOptions {
  /** How many resources there will be: a request that is stopped holds its worker, and the others are to come to their stops too. */
  readonly resources: number
  /** Further Accounts, each with the key of `default` to begin with. */
  readonly accounts?: readonly string[]
  /** Further flags of the operator. */
  readonly flags?: readonly string[]
  /** Whether the operator takes a Lease. Default false. */
  readonly leaderElect?: boolean
}

/** A world whose operator speaks through proxies to the apiserver and, for each Account, to the emulator. */
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

  /** The operator is not started yet. */
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
    // Where an Account speaks to is fixed: the world's own is made anew.
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

  /** Starts the operator, again or for the first time; what its predecessor asked is forgotten. */
  async startOperator(): Promise<void> {
    this.stops.begin()
    await this.world.startOperator(this.#flags)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stops.releaseAll()
    await this.#resources.disposeAsync()
  }
}
