import { secretType } from '../../kube/core-types.ts'
import { KubeError } from '../../kube/kube-error.ts'
import type { KubeClient, KubeObject } from '../../kube/types.ts'
import { readSecretKey } from '../inputs/inputs.ts'
import { KEPT_KEY_DATA, KEPT_KEY_PREFIX } from '../names.ts'

const LABELS = { 'app.kubernetes.io/managed-by': 'culvert' }

/** UID of the account whose key a Secret of the operator's namespace keeps; undefined for any other Secret. */
export function keptFor({ metadata: { name, labels = {} } }: KubeObject): string | undefined {
  const isOurs = Object.entries(LABELS).every(([label, value]) => labels[label] === value)
  return isOurs && name.startsWith(KEPT_KEY_PREFIX) ? name.slice(KEPT_KEY_PREFIX.length) : undefined
}

type Client = Pick<KubeClient, 'get' | 'apply' | 'delete'>

/**
 * The last working key of each account, in a Secret of the operator's own namespace. Deleting a namespace deletes its
 * Secrets first; with this copy, the remote objects of its CRs can still be deleted, and the deletion completes.
 */
export class KeptKeys {
  readonly #kube: Client
  readonly #namespace: string
  /** Keys known to be kept, by the account's UID. */
  readonly #known = new Map<string, string>()

  constructor(kube: Client, namespace: string) {
    this.#kube = kube
    this.#namespace = namespace
  }

  /** The key kept for the account with this UID. */
  async read(uid: string): Promise<string | undefined> {
    const key = this.#known.get(uid) ?? (await readSecretKey(this.#kube, this.#namespace, this.#ref(uid)))
    if (key !== undefined) this.#known.set(uid, key)
    return key
  }

  /** Another process may keep another key for the account with this UID: it is read before it is used again. */
  readAgain(uid: string): void {
    this.#known.delete(uid)
  }

  /** Keeps `key`; writes only if another or none is kept. */
  async keep(uid: string, key: string): Promise<void> {
    if ((await this.read(uid)) === key) return
    const { name } = this.#ref(uid)
    await this.#kube.apply(
      secretType,
      { namespace: this.#namespace, name },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace: this.#namespace, labels: LABELS },
        type: 'Opaque',
        data: { [KEPT_KEY_DATA]: Buffer.from(key).toString('base64') },
      },
      { force: true },
    )
    this.#known.set(uid, key)
  }

  /**
   * Deletes the kept key; resolves to false if there was none. @throws KubeError `NotFound` if the deletion is answered
   * with 404 although the Secret exists.
   */
  async forget(uid: string): Promise<boolean> {
    this.#known.delete(uid)
    const key = { namespace: this.#namespace, name: this.#ref(uid).name }
    if (await this.#kube.delete(secretType, key)) return true
    if ((await this.#kube.get(secretType, key)) === undefined) return false
    throw new KubeError('NotFound', `DELETE secrets/${key.name}: answered 404, but the Secret exists`, { status: 404 })
  }

  #ref(uid: string): { readonly name: string; readonly key: string } {
    return { name: `${KEPT_KEY_PREFIX}${uid}`, key: KEPT_KEY_DATA }
  }
}
