import { KubeError } from '../../kube/kube-error.ts'
import type { KubeClient, KubeObject, ResourceType } from '../../kube/types.ts'
import { done, type Outcome } from '../../runtime/outcome.ts'
import type { Logger } from '../../util/logger.ts'
import { hasFinalizer, isDeleting, withFinalizer, withoutFinalizer } from '../cr.ts'
import { patchVersion } from '../run/merge-patch.ts'

export const roleBindingType: ResourceType = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
}

/**
 * Name of the RoleBinding that keeps an operator's rights in a namespace being deleted, and of the ClusterRole that it
 * binds.
 */
export function holdName(operatorNamespace: string, operatorName: string): string {
  return `${operatorNamespace}-${operatorName}-hold`
}

/** Which namespaces have resources whose deletion needs the operator. */
export interface HeldResources {
  /** Whether a resource in the namespace has our finalizer, or is about to get it. */
  needsOperator(namespace: string): boolean
}

export interface NamespaceHoldsOptions {
  readonly kube: KubeClient
  readonly resources: HeldResources
  /** `holdName` of this operator. */
  readonly name: string
  readonly logger: Logger
}

/**
 * Keeps the operator's rights in a namespace as long as something there needs them. When a namespace is deleted,
 * Kubernetes deletes its RoleBindings along with everything else, and without rights the operator cannot remove
 * finalizers. So a RoleBinding carries our finalizer as long as a resource does; RBAC honours a binding that is being
 * deleted until it is gone. See docs/decisions/0021-namespaces-that-go.md.
 */
export class NamespaceHolds {
  readonly #options: NamespaceHoldsOptions
  /** Whether the binding of a namespace carries our finalizer, as far as this process knows. */
  readonly #held = new Map<string, boolean>()
  /** The pending write of each namespace; writes run one after another. */
  readonly #writing = new Map<string, Promise<void>>()
  readonly #warned = new Set<string>()

  constructor(options: NamespaceHoldsOptions) {
    this.#options = options
  }

  /**
   * Holds the namespace before a resource there gets a finalizer. Costs nothing once it is held. A namespace that lacks
   * the binding, or where it may not be written, is not held; this is logged.
   * @throws KubeError if the call to Kubernetes fails.
   */
  async hold(namespace: string): Promise<void> {
    if (this.#held.get(namespace) !== true) await this.#inTurn(namespace, () => true)
  }

  /** Holds or releases the namespace, as its resources require now. Costs nothing while that does not change. */
  async reconcile(namespace: string): Promise<Outcome> {
    const { resources } = this.#options
    try {
      if (this.#held.get(namespace) !== resources.needsOperator(namespace)) {
        await this.#inTurn(namespace, () => resources.needsOperator(namespace))
      }
      return done
    } catch (error) {
      return { type: 'backoff', error }
    }
  }

  /**
   * Whether the binding, and so the namespace, is being deleted.
   * @throws KubeError if the call to Kubernetes fails.
   */
  async isGoing(namespace: string): Promise<boolean> {
    const { kube, name } = this.#options
    const binding = await kube.get<KubeObject>(roleBindingType, { namespace, name })
    return binding !== undefined && isDeleting(binding)
  }

  /** `isNeeded` is called when the write's turn has come, so that it sees changes made meanwhile. */
  #inTurn(namespace: string, isNeeded: () => boolean): Promise<void> {
    const before = this.#writing.get(namespace) ?? Promise.resolve()
    const write = before.catch(() => undefined).then(() => this.#set(namespace, isNeeded()))
    this.#writing.set(namespace, write)
    return write
  }

  async #set(namespace: string, isHeld: boolean): Promise<void> {
    if (this.#held.get(namespace) === isHeld) return
    const { kube, name } = this.#options
    try {
      const found = await setHold(kube, { namespace, name }, isHeld)
      if (found || !isHeld) this.#held.set(namespace, isHeld)
      else this.#warn(namespace, 'it does not exist')
    } catch (error) {
      this.#held.delete(namespace)
      if (!(error instanceof KubeError) || error.code !== 'Forbidden') throw error
      this.#warn(namespace, error.message)
    }
  }

  #warn(namespace: string, why: string): void {
    if (this.#warned.has(namespace)) return
    this.#warned.add(namespace)
    const { logger, name } = this.#options
    logger.warn(
      { namespace, roleBinding: name, why },
      'the RoleBinding cannot be held: delete resources before their namespace',
    )
  }
}

/**
 * Adds our finalizer to a RoleBinding, or removes it.
 * @returns whether the binding exists; one that is being deleted and is not held counts as gone.
 * @throws KubeError if Kubernetes refuses a call.
 */
export async function setHold(
  kube: KubeClient,
  key: { readonly namespace: string; readonly name: string },
  isHeld: boolean,
): Promise<boolean> {
  const binding = await kube.get<KubeObject>(roleBindingType, key)
  if (binding === undefined) return false
  if (hasFinalizer(binding) === isHeld) return true
  // A finalizer cannot be added to an object that is being deleted.
  if (isHeld && binding.metadata.deletionTimestamp !== undefined) return false
  const finalizers = isHeld ? withFinalizer(binding) : withoutFinalizer(binding)
  await patchVersion(kube, roleBindingType, binding, { metadata: { finalizers } })
  return true
}
