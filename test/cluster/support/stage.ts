import { inject } from 'vitest'
import { KubeProxy } from '../../builders/kube-proxy.ts'
import { LaneFinder } from './priorities.ts'
import { Stops } from './stops.ts'
import { World } from './world.ts'

export interface StageOptions {
  /** The number of resources: a stopped request holds its worker, and the others must reach their stops too. */
  readonly resources: number
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
  static async open({ resources: count, flags = [], leaderElect = false }: StageOptions): Promise<Stage> {
    await using resources = new AsyncDisposableStack()
    const kube = resources.use(await KubeProxy.start(inject('kubeconfigPath')))
    const workers = String(2 * count)
    const own = ['--kubeconfig', kube.kubeconfigPath, '--workers', workers, ...flags]
    const world = resources.use(await World.open({ operator: false, flags: own, leaderElect }))
    const finder = new LaneFinder(world)
    // An Account's address is immutable: the world's own is created again.
    await world.delete('Account', 'default')
    const api = resources.use(await KubeProxy.inFrontOf(world.emulator.url))
    const apiKeySecretRef = { name: 'credentials' }
    const { metadata } = await world.apply('Account', 'default', { baseURL: api.url, apiKeySecretRef })
    finder.addAccount('default', metadata.uid)
    const stops = new Stops([
      [kube, (request) => finder.atKube(request)],
      [api, (request) => finder.atApi(request, 'Account/default')],
    ])
    return new Stage(world, stops, resources.move(), ['--allow-api-host', new URL(api.url).host])
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
