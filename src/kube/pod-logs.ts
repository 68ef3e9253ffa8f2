import { LINE_BYTES, splitLines } from './lines.ts'
import { objectPath, withQuery } from './paths.ts'
import type { KubeRequest } from './request.ts'
import type { ObjectKey, ResourceType } from './types.ts'

export const pods: ResourceType = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true }

/** How much of a log is read. */
export interface LogOptions {
  /** Only what was written in the last so many seconds. */
  readonly sinceSeconds: number
  /** Only so many lines from the end. */
  readonly tailLines: number
  readonly signal?: AbortSignal | undefined
}

/** Reads what Pods wrote. */
export interface PodLogs {
  /** What a Pod's only container has written, line by line. @throws KubeError */
  podLog(pod: ObjectKey, options: LogOptions): AsyncIterable<string>
}

export async function* readPodLog(
  open: (request: KubeRequest) => Promise<AsyncIterable<Uint8Array>>,
  pod: ObjectKey,
  { sinceSeconds, tailLines, signal }: LogOptions,
): AsyncGenerator<string> {
  const body = await open({
    verb: 'get',
    method: 'GET',
    resource: pods.plural,
    subresource: 'log',
    path: withQuery(objectPath(pods, pod, 'log'), { sinceSeconds, tailLines }),
    // The log is text; an error is a Status in JSON.
    accept: 'text/plain, application/json',
    signal,
  })
  yield* splitLines(body, LINE_BYTES)
}
