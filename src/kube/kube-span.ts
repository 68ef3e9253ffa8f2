import type { Tracer } from '@opentelemetry/api'
import { inClientSpan, requestAttributes, responseAttributes } from '../telemetry/spans.ts'
import { KubeError } from './kube-error.ts'
import type { KubeRequest } from './request.ts'

/** A complete answer. */
export interface KubeAnswer<T> {
  readonly status: number
  readonly body: T
}

/**
 * Sends a request inside a span. Lists get none: they belong to watches, which outlive the reconcile that may have
 * started one.
 */
export async function traced<T>(
  tracer: Tracer | undefined,
  request: KubeRequest,
  server: string,
  send: () => Promise<KubeAnswer<T>>,
): Promise<KubeAnswer<T>> {
  const { verb, method, resource, subresource, path } = request
  if (verb === 'list' || verb === 'watch') return await send()
  return await inClientSpan(
    tracer,
    () => ({
      name: `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`,
      attributes: {
        ...requestAttributes(method, new URL(server)),
        'url.path': path.split('?', 1)[0] ?? path,
        'culvert.kubernetes.verb': verb,
        'culvert.kubernetes.resource': resource,
      },
      answered: ({ status }) => ({ attributes: responseAttributes(status) }),
      failed: (error) => {
        if (!(error instanceof KubeError)) return { attributes: {}, error: 'unexpected' }
        const { status, code } = error
        // A check whether an object exists does not fail when it is absent.
        const isAnswer = verb === 'get' && code === 'NotFound'
        return { attributes: responseAttributes(status), error: isAnswer ? undefined : code }
      },
    }),
    send,
  )
}
