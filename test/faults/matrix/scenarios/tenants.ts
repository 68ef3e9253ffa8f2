import { namespaceType } from '../../../../src/kube/core-types.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import type { AccessEntry } from '../../../../src/managed/descriptor/access.ts'
import type { Condition } from '../../../../src/managed/descriptor/common.ts'
import { memberKinds } from '../../../builders/access.ts'
import { KEY } from '../../simulation/api-server.ts'
import { begin, conditionOf, reported, type Scene, until } from '../../simulation/scenario.ts'
import type { RemoteObject } from '../../simulation/shaped-answers.ts'
import { NAMESPACE, type SimulatedWorld } from '../../simulation/world.ts'

type Fields = Readonly<Record<string, unknown>>

const KINDS = ['Backend', 'Edge', 'IPPolicy', 'IPPolicyRule', 'ReservedDomain', 'ReservedAddress']
const SOON_MS = 600_000

/** Two namespaces, `shop` and `blog`, that share a ClusterAccount. Resources are named like `shop/Backend/web`. */
export class Tenants {
  readonly world: SimulatedWorld
  readonly writes: Scene['writes']
  readonly reads: Scene['reads']

  private constructor({ world, writes, reads }: Scene) {
    this.world = world
    this.writes = writes
    this.reads = reads
  }

  static async begin(more: Partial<AccessEntry> = {}): Promise<Tenants> {
    const access = [{ namespaceSelector: {}, kinds: memberKinds.map(({ definition }) => definition.kind), ...more }]
    const scene = await begin(KINDS, { isShared: true, accountSpec: { access } })
    scene.world.makeTenant('blog')
    const tenants = new Tenants(scene)
    for (const name of [NAMESPACE, 'blog']) tenants.label(name, { team: name })
    return tenants
  }

  /**
   * Gives the namespace `shop` an Account of its own, which its resources use from then on unless they say otherwise.
   */
  makeAccount(name = 'default', baseURL = 'https://api.example.com'): void {
    this.world.putSecret('key', { apiKey: KEY })
    const spec = { baseURL, apiKeySecretRef: { name: 'key' }, resyncInterval: '60s' }
    this.world.server.create(this.world.kinds.accountType('Account'), { namespace: NAMESPACE, name }, { spec })
  }

  /** Creates the resource in the shared account, or merges `spec` into its spec. */
  apply(at: string, spec: Fields, annotations: Readonly<Record<string, string>> = {}): void {
    const { type, key, kind } = this.#placeOf(at)
    if (this.get(at) !== undefined) this.world.server.patch(type, key, { spec })
    else {
      const isByName = kind === 'IPPolicyRule' && 'name' in ((spec.ipPolicyRef as Fields | undefined) ?? {})
      const accountRef = { kind: 'ClusterAccount', name: this.world.accountKey.name }
      this.world.server.create(type, key, {
        metadata: { annotations },
        spec: isByName ? spec : { accountRef, ...spec },
      })
    }
  }

  /** Creates an object by hand. */
  async make(path: string, fields: Fields): Promise<RemoteObject> {
    return (await this.world.api.ask('POST', `/${path}`, fields)) as RemoteObject
  }

  get(at: string): CustomResource | undefined {
    const { type, key } = this.#placeOf(at)
    return this.world.kube.get<CustomResource>(type, key)
  }

  delete(at: string): void {
    const { type, key } = this.#placeOf(at)
    this.world.kube.delete(type, key)
  }

  label(namespace: string, labels: Readonly<Record<string, string | null>>): void {
    this.world.server.patch(namespaceType, { name: namespace }, { metadata: { labels } })
  }

  condition(at: string, type: string): Condition | undefined {
    return conditionOf(this.get(at), type)
  }

  /** Waits until the condition has that reason for the current spec. Returns its message. */
  async says(at: string, type: string, reason: string): Promise<string> {
    const current = (): CustomResource | undefined => {
      const cr = this.get(at)
      return conditionOf(cr, type)?.observedGeneration === cr?.metadata.generation ? cr : undefined
    }
    return await reported(this.world, current, type, reason)
  }

  /** Waits until it is in sync. Returns the id of its object. */
  async ready(at: string): Promise<string> {
    await this.says(at, 'Synced', 'InSync')
    return this.get(at)?.status?.id ?? ''
  }

  async gone(at: string): Promise<void> {
    await until(this.world, `${at} is gone`, () => this.get(at) === undefined, SOON_MS)
  }

  #placeOf(at: string) {
    const [namespace = '', kind = '', name = ''] = at.split('/')
    return { kind, type: this.world.typeOf(kind), key: { namespace, name } }
  }
}
