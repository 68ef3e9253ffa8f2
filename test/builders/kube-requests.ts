import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { json } from 'node:stream/consumers'
import { type KubeConnection, loadKubeConnection } from '../../src/kube/load-config.ts'

/** The API server's answer. */
export interface KubeAnswer {
  readonly status: number
  /** The object, or the Status with the reason. */
  readonly body: Readonly<Record<string, unknown>>
}

export interface KubeRequestOptions {
  readonly query?: URLSearchParams
  readonly body?: unknown
  /** Content type of the body. Default: JSON. */
  readonly type?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
}

/** Sends any request to the API server of a kubeconfig, with its credentials; every answer is a result. */
export class KubeRequests implements Disposable {
  readonly #connection: KubeConnection
  readonly #agent: Agent
  readonly #headers: Readonly<Record<string, string>>

  private constructor(connection: KubeConnection, agent: Agent, headers: Readonly<Record<string, string>>) {
    this.#connection = connection
    this.#agent = agent
    this.#headers = headers
  }

  static async of(kubeconfig: string, userAgent: string): Promise<KubeRequests> {
    const connection = loadKubeConnection({ kubeconfig })
    const { headers, tls } = await connection.material()
    const always = { ...headers, accept: 'application/json', 'user-agent': userAgent }
    return new KubeRequests(connection, new Agent({ ...tls, keepAlive: true }), always)
  }

  async send(
    method: string,
    path: string,
    { query, body, type = 'application/json', headers = {} }: KubeRequestOptions = {},
  ): Promise<KubeAnswer> {
    const url = new URL(`${path}${query?.size ? `?${query}` : ''}`, this.#connection.server)
    const outgoing = request(url, {
      agent: this.#agent,
      method,
      headers: { ...this.#headers, ...headers, 'content-type': type },
    })
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = await once(outgoing, 'response')
    return { status: response.statusCode, body: (await json(response)) as KubeAnswer['body'] }
  }

  /** The check of `kubectl auth can-i`, as a SelfSubjectAccessReview. */
  async may(
    resourceAttributes: Readonly<Record<string, string | undefined>>,
    options: Pick<KubeRequestOptions, 'headers'> = {},
  ): Promise<boolean> {
    const { body } = await this.send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      ...options,
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes },
      },
    })
    const { status } = body as { readonly status?: { readonly allowed?: boolean } }
    if (status === undefined) throw new Error(`there is no review: ${body.message}`)
    return status.allowed ?? false
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}
