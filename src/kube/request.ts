import type { HttpRequest } from '../http-client/send.ts'

/** What a request does, as RBAC and metrics name it. */
export type KubeVerb = 'get' | 'list' | 'watch' | 'create' | 'patch' | 'apply' | 'delete'

/** A request to the API server. */
export interface KubeRequest extends HttpRequest {
  readonly verb: KubeVerb
  readonly resource: string
  readonly subresource?: string | undefined
  readonly signal?: AbortSignal | undefined
}
