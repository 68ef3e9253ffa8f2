import { KubeError } from '../../kube/kube-error.ts'
import { listAll } from '../../kube/list-every-page.ts'
import type { KubeClient, KubeObject, ResourceType } from '../../kube/types.ts'
import { KeptKeys } from '../accounts/kept-key.ts'
import { setHold } from '../accounts/namespace-hold.ts'
import { type CustomResource, hasFinalizer, heldIds, statusOf, unresolvedAttempt, withoutFinalizer } from '../cr.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import { type KindsRegistry, resourceTypeOf } from '../kinds-registry.ts'
import { targetText } from '../outputs/place.ts'
import { release } from '../outputs/vacate.ts'

export interface ReleaseOptions {
  readonly kube: KubeClient
  readonly kinds: KindsRegistry
  /** Namespaces to release; empty: all, and cluster-scoped resources. */
  readonly namespaces: readonly string[]
  readonly operatorNamespace: string
  /** `holdName` of the operator. */
  readonly holdName: string
  /** Receives what was released and what could not be, line by line. */
  readonly tell: (line: string) => void
}

/** The result of a release. */
export interface Departure {
  /** Resources whose finalizer was removed. */
  readonly resources: number
  /** Objects at the API that resources hold, released now or before. */
  readonly objects: number
  readonly outputs: number
  readonly keptKeys: number
  /** Resources that could not be released. */
  readonly failures: number
}

const TRIES = 5

/**
 * Releases everything whose deletion needs an operator: outputs and finalizers. Makes no call to any account. A
 * resource is done once its finalizer is removed, which comes last, so that a second run completes what a first one
 * began.
 */
export async function releaseEverything(options: ReleaseOptions, signal: AbortSignal): Promise<Departure> {
  return new ReleaseRun(options, signal).run()
}

class ReleaseRun {
  readonly #options: ReleaseOptions
  readonly #signal: AbortSignal
  readonly #keptKeys: KeptKeys
  #resources = 0
  #objects = 0
  #outputs = 0
  #keys = 0
  #failures = 0

  constructor(options: ReleaseOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
    this.#keptKeys = new KeptKeys(options.kube, options.operatorNamespace)
  }

  async run(): Promise<Departure> {
    const { kinds, namespaces } = this.#options
    for (const descriptor of kinds.managed) {
      await this.#each<CustomResource>(resourceTypeOf(descriptor), (cr) => this.#resource(descriptor, cr))
    }
    // An account is kept as long as a resource needs it: accounts come last.
    for (const descriptor of kinds.accounts) {
      if (namespaces.length > 0 && descriptor.definition.scope !== 'Namespaced') continue
      const type = resourceTypeOf(descriptor)
      await this.#each(type, (account) => this.#account(type, account))
    }
    for (const namespace of namespaces) await this.#letNamespaceGo(namespace)
    return {
      resources: this.#resources,
      objects: this.#objects,
      outputs: this.#outputs,
      keptKeys: this.#keys,
      failures: this.#failures,
    }
  }

  async #resource(descriptor: ManagedDescriptor, cr: CustomResource): Promise<void> {
    const outputs = await release({ context: this.#options, cr, descriptor }, { companion: true })
    this.#outputs += outputs.length
    const held = heldIds(statusOf(cr))
    this.#objects += held.length
    const isReleased = await this.#dropFinalizer(resourceTypeOf(descriptor), cr)
    if (!isReleased && outputs.length === 0) return
    const kept = outputs.map((output) => `${targetText(output)} is kept, without an owner`)
    const left = held.length === 0 ? [] : [`${held.join(', ')} stays at the API`]
    const open = unresolvedAttempt(cr) === undefined ? [] : ['a create in progress may leave another object there']
    this.#tell(cr, [...left, ...open, ...kept])
  }

  async #account(type: ResourceType, account: KubeObject): Promise<void> {
    const hadKey = await this.#keptKeys.forget(account.metadata.uid)
    if (hadKey) this.#keys += 1
    const isReleased = await this.#dropFinalizer(type, account)
    if (isReleased || hadKey) this.#tell(account, hadKey ? ['the copy of its key was removed'] : [])
  }

  /**
   * Comes last: the operator's own rights may go with the RoleBinding. Without permission to read the binding, none is
   * held.
   */
  async #letNamespaceGo(namespace: string): Promise<void> {
    const { kube, holdName: name } = this.#options
    this.#signal.throwIfAborted()
    try {
      await setHold(kube, { namespace, name }, false)
    } catch (error) {
      if (!(error instanceof KubeError) || ENDED.has(error.code)) throw error
      if (error.code === 'Forbidden') return
      this.#failures += 1
      this.#options.tell(`RoleBinding ${namespace}/${name}; not released: ${error.message}`)
    }
  }

  /** @returns whether there was a finalizer to remove. */
  async #dropFinalizer(type: ResourceType, object: KubeObject): Promise<boolean> {
    const { kube } = this.#options
    const { uid } = object.metadata
    let current: KubeObject | undefined = object
    for (let tries = 1; ; tries++) {
      if (current?.metadata.uid !== uid || !hasFinalizer(current)) return false
      const { resourceVersion } = current.metadata
      const patch = { metadata: { finalizers: withoutFinalizer(current) } }
      try {
        await kube.mergePatch(type, current.metadata, patch, { uid, resourceVersion })
        this.#resources += 1
        return true
      } catch (error) {
        if (!(error instanceof KubeError) || !MOVED.has(error.code) || tries === TRIES) throw error
        current = await kube.get(type, current.metadata)
      }
    }
  }

  /** Runs `act` on every object of the type. A failure does not stop the others. */
  async #each<T extends KubeObject>(type: ResourceType, act: (object: T) => Promise<void>): Promise<void> {
    const { kube, namespaces } = this.#options
    for (const object of await listAll<T>(kube, type, namespaces)) {
      this.#signal.throwIfAborted()
      try {
        await act(object)
      } catch (error) {
        if (!(error instanceof KubeError) || ENDED.has(error.code)) throw error
        this.#failures += 1
        this.#tell(object, [`not released: ${error.message}`])
      }
    }
  }

  #tell({ kind, metadata: { namespace, name } }: KubeObject, facts: readonly string[]): void {
    const place = namespace === undefined ? name : `${namespace}/${name}`
    this.#options.tell([`${kind} ${place}`, ...facts].join('; '))
  }
}

const MOVED: ReadonlySet<string> = new Set(['Conflict', 'NotFound'])
/** This process must not write any more, or is stopping. */
const ENDED: ReadonlySet<string> = new Set(['NotLeader', 'Aborted'])
