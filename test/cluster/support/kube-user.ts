import { collectionPath, objectPath } from '../../../src/kube/request.ts'
import { type KubeAnswer, type KubeRequestOptions, KubeRequests } from '../../builders/kube-requests.ts'
import { typeOf } from './world.ts'

/** A manifest of one of Culvert's kinds. */
export interface KubeManifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly [field: string]: unknown
}

export interface RequestSettings {
  /** Whether the server only checks the request. Default: false. */
  readonly dryRun?: boolean
  /** Further groups of the user. */
  readonly groups?: readonly string[]
}

/**
 * A person with kubectl, without a process for each command: the administrator of a kubeconfig, or the user whom they
 * impersonate. Writes resolve to what the API server says against them, an empty text if nothing.
 */
export class KubeUser implements Disposable {
  readonly #requests: KubeRequests
  readonly #user: string | undefined

  private constructor(requests: KubeRequests, user: string | undefined) {
    this.#requests = requests
    this.#user = user
  }

  /** Default: the administrator themselves. */
  static async of(kubeconfig: string, user?: string): Promise<KubeUser> {
    return new KubeUser(await KubeRequests.of(kubeconfig, 'culvert-test'), user)
  }

  [Symbol.dispose](): void {
    this.#requests[Symbol.dispose]()
  }

  create(manifest: KubeManifest, settings: RequestSettings = {}): Promise<string> {
    const { kind, metadata } = manifest
    return this.#write('POST', collectionPath(typeOf(kind), metadata.namespace), manifest, settings)
  }

  /** Whether this user may create an object. */
  creating(manifest: KubeManifest, settings: RequestSettings = {}): Promise<string> {
    return this.create(manifest, { ...settings, dryRun: true })
  }

  /** Puts a manifest in the place of the object of its name. */
  async replace(manifest: KubeManifest): Promise<string> {
    const path = objectPath(typeOf(manifest.kind), manifest.metadata)
    const { body } = await this.#send('GET', path)
    const { resourceVersion } = (body as { readonly metadata: { readonly resourceVersion: string } }).metadata
    return this.#write('PUT', path, { ...manifest, metadata: { ...manifest.metadata, resourceVersion } })
  }

  /** A merge patch. */
  patch(of: KubeManifest, body: object, settings: RequestSettings = {}): Promise<string> {
    return this.#write('PATCH', objectPath(typeOf(of.kind), of.metadata), body, settings)
  }

  delete({ kind, metadata }: KubeManifest): Promise<string> {
    return this.#write('DELETE', objectPath(typeOf(kind), metadata), undefined)
  }

  /** Whether they have a right in a namespace. `what` is `plural`, `plural.group` or either with `/name`. */
  can(verb: string, what: string, namespace: string): Promise<boolean> {
    const [type = '', name] = what.split('/')
    const [resource, ...group] = type.split('.')
    return this.#requests.may({ verb, resource, group: group.join('.'), name, namespace }, { headers: this.#as() })
  }

  async #write(
    method: string,
    path: string,
    body: object | undefined,
    { dryRun = false, groups }: RequestSettings = {},
  ): Promise<string> {
    const query = new URLSearchParams(body === undefined ? {} : { fieldValidation: 'Strict' })
    if (dryRun) query.set('dryRun', 'All')
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const { status, body: answer } = await this.#send(method, path, { query, body, type }, groups)
    return status < 300 ? '' : String(answer.message ?? `HTTP ${status}`)
  }

  #send(
    method: string,
    path: string,
    options: KubeRequestOptions = {},
    groups: readonly string[] = [],
  ): Promise<KubeAnswer> {
    return this.#requests.send(method, path, { ...options, headers: this.#as(groups) })
  }

  #as(groups: readonly string[] = []): Readonly<Record<string, string | readonly string[]>> {
    if (this.#user === undefined) return {}
    return { 'impersonate-user': this.#user, 'impersonate-group': ['system:authenticated', ...groups] }
  }
}
