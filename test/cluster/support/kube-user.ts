import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { json } from 'node:stream/consumers'
import { loadKubeConnection } from '../../../src/kube/load-config.ts'
import { collectionPath, objectPath, withQuery } from '../../../src/kube/paths.ts'
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

interface Answer {
  readonly status: number
  readonly body: { readonly message?: string; readonly status?: unknown }
}

/**
 * A person with kubectl, without a process for each command: the administrator of a kubeconfig, or the user whom they
 * impersonate. Writes resolve to what the API server says against them, an empty text if nothing.
 */
export class KubeUser implements Disposable {
  readonly #connection
  readonly #user: string | undefined
  readonly #agent: Agent
  readonly #headers: Readonly<Record<string, string>>

  private constructor(
    connection: ReturnType<typeof loadKubeConnection>,
    { agent, headers }: { readonly agent: Agent; readonly headers: Readonly<Record<string, string>> },
    user: string | undefined,
  ) {
    this.#connection = connection
    this.#agent = agent
    this.#headers = headers
    this.#user = user
  }

  /** Default: the administrator themselves. */
  static async of(kubeconfig: string, user?: string): Promise<KubeUser> {
    const connection = loadKubeConnection({ kubeconfig })
    const { headers, tls } = await connection.material()
    return new KubeUser(connection, { agent: new Agent({ ...tls, keepAlive: true }), headers }, user)
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
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
    const { body } = await this.#send('GET', path, undefined)
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

  /** The result of a SelfSubjectAccessReview. `what` is `plural`, `plural.group` or either with `/name`. */
  async can(verb: string, what: string, namespace: string): Promise<boolean> {
    const [type = '', name] = what.split('/')
    const [resource, ...group] = type.split('.')
    const { status, body } = await this.#send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb, resource, group: group.join('.'), name, namespace } },
    })
    if (status !== 201) throw new Error(`no review of ${verb} ${what}: HTTP ${status} ${body.message}`)
    return (body.status as { readonly allowed: boolean }).allowed
  }

  async #write(
    method: string,
    path: string,
    body: object | undefined,
    settings: RequestSettings = {},
  ): Promise<string> {
    const { dryRun = false, groups } = settings
    const query = { fieldValidation: body === undefined ? undefined : 'Strict', dryRun: dryRun ? 'All' : undefined }
    const { status, body: answer } = await this.#send(method, withQuery(path, query), body, groups)
    return status < 300 ? '' : (answer.message ?? `HTTP ${status}`)
  }

  async #send(method: string, path: string, body: object | undefined, groups: readonly string[] = []): Promise<Answer> {
    const as = { 'impersonate-user': this.#user, 'impersonate-group': ['system:authenticated', ...groups] }
    const outgoing = request(new URL(path, this.#connection.server), {
      agent: this.#agent,
      method,
      headers: {
        ...this.#headers,
        'user-agent': 'culvert-test',
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        ...(this.#user === undefined ? {} : as),
      },
    })
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = await once(outgoing, 'response')
    return { status: response.statusCode, body: (await json(response)) as Answer['body'] }
  }
}
