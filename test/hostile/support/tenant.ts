import { randomBytes } from 'node:crypto'
import { KubeError } from '../../../src/kube/kube-error.ts'
import type { KubeObject } from '../../../src/kube/types.ts'
import { until } from '../../cluster/support/wait.ts'
import { conditionOf, core, type Resource, typeOf, type World } from '../../cluster/support/world.ts'

export type Spec = Record<string, unknown>

const API_VERSION = 'culvert.dev/v1alpha1'

/** A tenant with a namespace of the world's cluster, whose operator watches all namespaces. */
export class Tenant {
  readonly namespace: string
  readonly #world: World

  private constructor(world: World, name: string) {
    this.#world = world
    this.namespace = `${world.namespace}-${name}-${randomBytes(2).toString('hex')}`
  }

  /** Creates the namespace, without an Account. */
  static async create(world: World, name: string): Promise<Tenant> {
    const tenant = new Tenant(world, name)
    await world.createNamespace(tenant.namespace)
    return tenant
  }

  /** The Account `name` at `baseURL`, with its key in the Secret `credentials`. */
  async account(baseURL: string, apiKey: string, { name = 'default', ...spec }: Spec & { name?: string } = {}) {
    await this.secret('credentials', { apiKey })
    return this.apply('Account', name, { baseURL, apiKeySecretRef: { name: 'credentials' }, ...spec })
  }

  async secret(name: string, values: Readonly<Record<string, string>>, metadata: Spec = {}): Promise<KubeObject> {
    const data = Object.fromEntries(
      Object.entries(values).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    )
    return this.#world.kube.apply(core('secrets', 'Secret'), this.#key(name), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...this.#key(name), ...metadata },
      data,
    })
  }

  getSecret(name: string): Promise<(KubeObject & { readonly data?: Readonly<Record<string, string>> }) | undefined> {
    return this.#world.kube.get(core('secrets', 'Secret'), this.#key(name))
  }

  apply(kind: string, name: string, spec: Spec, metadata: Spec = {}): Promise<Resource> {
    const manifest = { apiVersion: API_VERSION, kind, metadata: { ...this.#key(name), ...metadata }, spec }
    return this.#world.kube.apply<Resource>(typeOf(kind), this.#key(name), manifest, { force: true })
  }

  /** Creates many Backends at a pace that the apiserver keeps up with. */
  async applyMany(count: number, name: (index: number) => string, spec: (index: number) => Spec): Promise<void> {
    let next = 0
    const work = async (): Promise<void> => {
      for (let index = next++; index < count; index = next++) {
        const manifest = {
          apiVersion: API_VERSION,
          kind: 'Backend',
          metadata: this.#key(name(index)),
          spec: spec(index),
        }
        await this.#world.kube.create(typeOf('Backend'), this.#key(name(index)), manifest)
      }
    }
    await Promise.all(Array.from({ length: 16 }, work))
  }

  get(kind: string, name: string): Promise<Resource | undefined> {
    return this.#world.kube.get<Resource>(typeOf(kind), this.#key(name))
  }

  async list(kind: string): Promise<readonly Resource[]> {
    return (await this.#world.kube.list<Resource>(typeOf(kind), { namespace: this.namespace })).items
  }

  async annotate(kind: string, name: string, annotations: Readonly<Record<string, string | null>>): Promise<void> {
    await this.#world.kube.mergePatch(typeOf(kind), this.#key(name), { metadata: { annotations } })
  }

  async delete(kind: string, name: string): Promise<void> {
    await this.#world.kube.delete(typeOf(kind), this.#key(name))
  }

  /**
   * Waits until the resource is Ready and Synced at its current generation; resolves to the time that took, in
   * milliseconds.
   */
  async ready(kind: string, name: string, timeoutMs = 120_000): Promise<number> {
    const began = performance.now()
    await this.until(kind, name, 'is Ready', (cr) => ['Ready', 'Synced'].every((type) => isTrue(cr, type)), timeoutMs)
    return performance.now() - began
  }

  /** Waits until Synced has another reason than success, and resolves to reason and message. */
  async refused(kind: string, name: string, timeoutMs = 120_000): Promise<{ reason: string; message: string }> {
    const met = (cr: Resource): boolean => {
      return conditionOf(cr, 'Ready')?.status === 'False' && conditionOf(cr, 'Ready')?.reason !== 'Progressing'
    }
    const cr = await this.until(kind, name, 'is refused', met, timeoutMs)
    const { reason = '', message = '' } = conditionOf(cr, 'Ready') ?? {}
    return { reason, message }
  }

  async until(
    kind: string,
    name: string,
    what: string,
    met: (cr: Resource) => boolean,
    timeoutMs = 120_000,
  ): Promise<Resource> {
    const look = async (): Promise<Resource | undefined> => {
      const cr = await this.get(kind, name)
      return cr !== undefined && met(cr) ? cr : undefined
    }
    const describe = async () => ({
      cr: await this.get(kind, name),
      log: this.#world.operator.log.split('\n').slice(-30),
    })
    return until(`${kind}/${name} of ${this.namespace} ${what}`, look, { timeoutMs, describe })
  }

  /** Removes everything without waiting for an operator; one that still runs may be first. */
  async release(kindNames: readonly string[]): Promise<void> {
    for (const kind of kindNames) {
      const held = (await this.list(kind)).filter(({ metadata }) => (metadata.finalizers ?? []).length > 0)
      let next = 0
      const work = async (): Promise<void> => {
        for (let cr = held[next++]; cr !== undefined; cr = held[next++]) {
          const { name } = cr.metadata
          await this.delete(kind, name)
          const patch = { metadata: { finalizers: null } }
          await this.#world.kube.mergePatch(typeOf(kind), this.#key(name), patch).catch(unlessGone)
        }
      }
      await Promise.all(Array.from({ length: 16 }, work))
    }
    await this.#world.kube.delete(core('namespaces', 'Namespace', false), { name: this.namespace })
  }

  #key(name: string) {
    return { namespace: this.namespace, name }
  }
}

function isTrue(cr: Resource, type: string): boolean {
  const condition = conditionOf(cr, type)
  return condition?.status === 'True' && condition.observedGeneration === cr.metadata.generation
}

function unlessGone(error: unknown): void {
  if (!(error instanceof KubeError && error.code === 'NotFound')) throw error
}
