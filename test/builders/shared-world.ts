import { kinds } from '../../src/kinds/index.ts'
import type { CustomResource } from '../../src/managed/cr.ts'
import type { AccessEntry } from '../../src/managed/descriptor/access.ts'
import type { Condition } from '../../src/managed/descriptor/common.ts'
import { secretType } from '../../src/managed/inputs/inputs.ts'
import { KindsRegistry, resourceTypeOf } from '../../src/managed/kinds-registry.ts'
import { memberKinds } from './access.ts'
import { ModelWorld } from './model-world.ts'

type Fields = Readonly<Record<string, unknown>>

const registry = new KindsRegistry(kinds)
const namespaces = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false } as const
const accountRef = { kind: 'ClusterAccount', name: 'shared' }

/** Two namespaces, `shop` and `blog`, that share a ClusterAccount: all in memory. */
export class SharedWorld {
  readonly world: ModelWorld

  private constructor(world: ModelWorld) {
    this.world = world
  }

  static start(more: Partial<AccessEntry> = {}): SharedWorld {
    const world = ModelWorld.start()
    world.kube.create(namespaces, { name: 'blog' }, { metadata: { labels: { team: 'blog' } } })
    world.kube.mergePatch(namespaces, { name: 'shop' }, { metadata: { labels: { team: 'shop' } } })
    const key = { namespace: 'culvert-system', name: 'shared' }
    world.kube.create(secretType, key, { data: { apiKey: btoa('key-1') } })
    const access = [{ namespaceSelector: {}, kinds: memberKinds.map(({ definition }) => definition.kind), ...more }]
    world.kube.create(
      registry.accountType('ClusterAccount'),
      { name: 'shared' },
      {
        spec: {
          baseURL: 'https://api.example.com',
          apiKeySecretRef: { name: 'shared' },
          resyncInterval: '60s',
          access,
        },
      },
    )
    return new SharedWorld(world)
  }

  /** Creates the resource, with annotations if any, or merges `spec` into its spec. `kind/name` of a namespace, as `shop/Backend/web`. */
  apply(at: string, spec: Fields, annotations: Readonly<Record<string, string>> = {}): void {
    const { kind, key } = placeOf(at)
    const type = typeOf(kind)
    if (this.world.kube.get(type, key) !== undefined) this.world.kube.mergePatch(type, key, { spec })
    else {
      const isByName = kind === 'IPPolicyRule' && 'name' in ((spec.ipPolicyRef as Fields | undefined) ?? {})
      this.world.kube.create(type, key, { metadata: { annotations }, spec: isByName ? spec : { ...spec, accountRef } })
    }
  }

  get(at: string): CustomResource | undefined {
    const { kind, key } = placeOf(at)
    return this.world.kube.get<CustomResource>(typeOf(kind), key)
  }

  delete(at: string): void {
    const { kind, key } = placeOf(at)
    this.world.kube.delete(typeOf(kind), key)
  }

  label(namespace: string, labels: Readonly<Record<string, string | null>>): void {
    this.world.kube.mergePatch(namespaces, { name: namespace }, { metadata: { labels } })
  }

  condition(at: string, type: string): Condition | undefined {
    return this.get(at)?.status?.conditions?.find((each) => each.type === type)
  }

  /** Waits until the condition has that reason for the current spec. @returns its message */
  async says(at: string, type: string, reason: string): Promise<string> {
    const told = (): boolean => {
      const condition = this.condition(at, type)
      return condition?.reason === reason && condition.observedGeneration === this.get(at)?.metadata.generation
    }
    try {
      await this.world.until(`${at} says ${reason}`, told, 600_000)
    } catch (error) {
      throw new Error(`${(error as Error).message}: ${JSON.stringify(this.get(at)?.status)}`)
    }
    return this.condition(at, type)?.message ?? ''
  }

  /** @returns the id of its object. */
  async ready(at: string): Promise<string> {
    await this.says(at, 'Synced', 'InSync')
    return this.get(at)?.status?.id ?? ''
  }

  async gone(at: string): Promise<void> {
    await this.world.until(`${at} is gone`, () => this.get(at) === undefined, 600_000)
  }
}

function placeOf(at: string) {
  const [namespace = '', kind = '', name = ''] = at.split('/')
  return { kind, key: { namespace, name } }
}

function typeOf(kind: string) {
  const descriptor = registry.managedKind(kind)
  if (descriptor === undefined) throw new Error(`there is no ${kind}`)
  return resourceTypeOf(descriptor)
}
