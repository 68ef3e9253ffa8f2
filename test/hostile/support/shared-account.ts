import type { AccessEntry } from '../../../src/managed/descriptor/access.ts'
import { until } from '../../cluster/support/wait.ts'
import { core, type Resource, typeOf, type World } from '../../cluster/support/world.ts'
import type { Manifest } from '../../kinds/kind-test-data.ts'

const TYPE = typeOf('ClusterAccount')

/** A ClusterAccount of the world's emulator, for a world whose operator watches the whole cluster. */
export class SharedAccount {
  readonly name: string
  readonly #world: World

  private constructor(world: World, name: string) {
    this.#world = world
    this.name = name
  }

  /** Creates it, with its key in the operator's namespace; resolves once it is Ready. */
  static async create(
    world: World,
    name: string,
    access: readonly AccessEntry[],
    spec: Readonly<Record<string, unknown>> = {},
  ): Promise<SharedAccount> {
    const key = { namespace: world.operatorNamespace, name: `key-of-${name}` }
    const data = { apiKey: Buffer.from(world.emulator.apiKey).toString('base64') }
    await world.kube.apply(core('secrets', 'Secret'), key, { apiVersion: 'v1', kind: 'Secret', metadata: key, data })
    const account = new SharedAccount(world, name)
    await world.kube.create(
      TYPE,
      { name },
      {
        apiVersion: 'culvert.dev/v1alpha1',
        kind: 'ClusterAccount',
        metadata: { name },
        spec: { baseURL: world.emulator.url, apiKeySecretRef: { name: key.name }, access, ...spec },
      },
    )
    await account.#ready()
    return account
  }

  /** The spec of a manifest, in this account. A rule belongs to the account of the policy that it names. */
  in({ kind, spec }: Manifest): Record<string, unknown> {
    const isPart = (spec.ipPolicyRef as { readonly name?: string } | undefined)?.name !== undefined
    if (kind === 'IPPolicyRule' && isPart) return spec
    return { ...spec, accountRef: { kind: 'ClusterAccount', name: this.name } }
  }

  /** Replaces the access rules. */
  async allow(access: readonly AccessEntry[]): Promise<void> {
    await this.#world.kube.mergePatch(TYPE, { name: this.name }, { spec: { access } })
    await this.#ready()
  }

  /** Waits until the operator has observed the account's current spec. */
  async #ready(): Promise<void> {
    const look = async (): Promise<true | undefined> => {
      const account = await this.#world.kube.get<Resource>(TYPE, { name: this.name })
      const ready = account?.status?.conditions?.find(({ type }) => type === 'Ready')
      const isSeen = account?.status?.observedGeneration === account?.metadata.generation
      return ready?.status === 'True' && isSeen ? true : undefined
    }
    const describe = () => this.#world.kube.get(TYPE, { name: this.name })
    await until(`ClusterAccount/${this.name} is Ready`, look, { describe })
  }
}

/** Sets labels of a namespace; null removes one. */
export async function label(
  world: World,
  namespace: string,
  labels: Readonly<Record<string, string | null>>,
): Promise<void> {
  await world.kube.mergePatch(core('namespaces', 'Namespace', false), { name: namespace }, { metadata: { labels } })
}
