import type { Tracer } from '@opentelemetry/api'
import { inClientSpan } from '../telemetry/spans.ts'
import { KubeError } from './errors.ts'
import type { KubeRequest } from './request.ts'

/** A complete answer. */
export interface KubeAnswer {
  readonly status: number
  readonly body: unknown
}

/**
 * Sends a request inside a span. Lists get none: they belong to watches, which outlive the reconcile that may have
 * started one.
 */
export async function traced(
  tracer: Tracer | undefined,
  request: KubeRequest,
  server: string,
  send: () => Promise<KubeAnswer>,
): Promise<KubeAnswer> {
  const { verb, method, resource, subresource, path } = request
  if (verb === 'list' || verb === 'watch') return await send()
  const { hostname, port, protocol } = new URL(server)
  return await inClientSpan(
    tracer,
    {
      name: `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`,
      attributes: {
        'http.request.method': method,
        'url.path': path.split('?', 1)[0] ?? path,
        'server.address': hostname,
        'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
        'culvert.kubernetes.verb': verb,
        'culvert.kubernetes.resource': resource,
      },
      answered: ({ status }) => ({ attributes: { 'http.response.status_code': status } }),
      failed: (error) => {
        if (!(error instanceof KubeError)) return { attributes: {}, error: 'unexpected' }
        const { status, code } = error
        // A check whether an object exists does not fail when it is absent.
        const isAnswer = verb === 'get' && code === 'NotFound'
        const attributes = status === undefined ? {} : { 'http.response.status_code': status }
        return { attributes, error: isAnswer ? undefined : code }
      },
    },
    send,
  )
}
