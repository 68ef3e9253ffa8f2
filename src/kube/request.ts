/** What a request does, as RBAC and metrics name it. */
export type KubeVerb = 'get' | 'list' | 'watch' | 'create' | 'patch' | 'apply' | 'delete'

/** A request to the API server. */
export interface KubeRequest {
  readonly verb: KubeVerb
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly resource: string
  readonly subresource?: string | undefined
  /** Including the query. */
  readonly path: string
  readonly accept: string
  readonly contentType?: string
  readonly body?: Readonly<Record<string, unknown>>
  readonly signal?: AbortSignal | undefined
}
