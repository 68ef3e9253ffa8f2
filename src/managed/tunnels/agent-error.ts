import type { KubeObject } from '../../kube/types.ts'

/** The most characters of an agent's words. */
const LONGEST = 500

interface Terminated {
  readonly finishedAt?: string
  readonly message?: string
}

/** The parts of a Pod that are read. */
interface Pod extends KubeObject {
  readonly status?: {
    readonly containerStatuses?: readonly {
      readonly state?: { readonly terminated?: Terminated; readonly waiting?: { readonly message?: string } }
      readonly lastState?: { readonly terminated?: Terminated }
    }[]
  }
}

/**
 * Why agents are not connected, in the words of the one that gave up last: it leaves them as its termination message.
 * Otherwise why one cannot start, such as an image that cannot be pulled. Undefined if none says anything.
 */
export function lastError(pods: readonly KubeObject[]): string | undefined {
  const containers = (pods as readonly Pod[]).flatMap(({ status }) => status?.containerStatuses ?? [])
  const [latest] = containers
    .flatMap(({ state, lastState }) => [state?.terminated, lastState?.terminated])
    .filter((ended) => ended?.message !== undefined && ended.message !== '')
    .sort((left, right) => (right?.finishedAt ?? '').localeCompare(left?.finishedAt ?? ''))
  const waiting = containers.map(({ state }) => state?.waiting?.message).find((message) => message !== undefined)
  return (latest?.message ?? waiting)?.slice(0, LONGEST)
}
