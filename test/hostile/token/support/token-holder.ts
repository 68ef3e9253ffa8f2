import { type KubeAnswer, type KubeRequestOptions, KubeRequests } from '../../../builders/kube-requests.ts'
import { until } from '../../../cluster/support/wait.ts'
import { type Attempt, SERVICE_ACCOUNT_TOKEN, type Thing } from './attempt.ts'

const PATCHES = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
} as const

/** Holds a token and an HTTP client, and sends any request. */
export class TokenHolder implements Disposable {
  readonly #requests: KubeRequests

  private constructor(requests: KubeRequests) {
    this.#requests = requests
  }

  static async of(kubeconfig: string): Promise<TokenHolder> {
    return new TokenHolder(await KubeRequests.of(kubeconfig, 'thief'))
  }

  /** Sends an attempt; `dryRun`: the API server only checks it. */
  attempt({ verb, on, body, subresource }: Attempt, { dryRun }: { readonly dryRun: boolean }): Promise<KubeAnswer> {
    const isOfCollection = (verb === 'create' && subresource === undefined) || verb === 'deletecollection'
    const path = `${on.collection}${isOfCollection ? '' : `/${on.name}`}${subresource ? `/${subresource}` : ''}`
    const query = new URLSearchParams(dryRun ? { dryRun: 'All' } : {})
    if (verb === 'delete' || verb === 'deletecollection') return this.send('DELETE', path, { query })
    if (verb === 'create') return this.send('POST', path, { query, body: body ?? on.manifest })
    if (verb === 'replace') return this.send('PUT', path, { query, body: body ?? on.manifest })
    if (verb === 'apply') {
      query.set('fieldManager', 'thief')
      query.set('force', 'true')
    }
    return this.send('PATCH', path, { query, body: body ?? on.manifest, type: PATCHES[verb] })
  }

  /** Creates an object, or updates it to the manifest. @throws Error if that is refused */
  async make(on: Thing): Promise<void> {
    const { status, body } = await this.attempt({ verb: 'apply', on }, { dryRun: false })
    if (status >= 300) throw new Error(`${on.collection}/${on.name} cannot be made: ${body.message}`)
    if (on.manifest.type === SERVICE_ACCOUNT_TOKEN) await until('the token is issued', () => this.issuedToken(on))
  }

  /**
   * The token that Kubernetes has written into a Secret of a ServiceAccount; undefined before, or if it may not be
   * read.
   */
  async issuedToken({ collection, name }: Thing): Promise<string | undefined> {
    const { body } = await this.send('GET', `${collection}/${name}`)
    const { data } = body as { readonly data?: { readonly token?: string } }
    return data?.token && Buffer.from(data.token, 'base64').toString()
  }

  /** Names and versions of the collection's objects whose names begin with the prefix. */
  async versions({ collection, name }: Thing): Promise<readonly string[]> {
    const { body } = await this.send('GET', collection)
    const { items = [] } = body as { readonly items?: readonly { readonly metadata: Record<string, string> }[] }
    return items
      .filter(({ metadata }) => metadata.name?.startsWith(name))
      .map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`)
  }

  /** Whether RBAC allows an attempt. */
  canI({ verb, on, subresource }: Attempt): Promise<boolean> {
    const [, group = '', namespace, resource = ''] =
      /^\/api(?:s\/([^/]+))?\/v[^/]+(?:\/namespaces\/([^/]+))?\/([^/]+)$/.exec(on.collection) ?? []
    return this.may({
      verb: verb in PATCHES ? 'patch' : verb === 'replace' ? 'update' : verb,
      group,
      resource,
      ...(subresource === undefined ? {} : { subresource }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(verb === 'create' || verb === 'deletecollection' ? {} : { name: on.name }),
    })
  }

  /** The check of `kubectl auth can-i`. */
  may(resourceAttributes: Readonly<Record<string, string>>): Promise<boolean> {
    return this.#requests.may(resourceAttributes)
  }

  send(method: string, path: string, options?: KubeRequestOptions): Promise<KubeAnswer> {
    return this.#requests.send(method, path, options)
  }

  [Symbol.dispose](): void {
    this.#requests[Symbol.dispose]()
  }
}
