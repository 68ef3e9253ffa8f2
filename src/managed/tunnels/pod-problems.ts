import { KubeError } from '../../kube/kube-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { reasons } from '../descriptor/reasons.ts'
import type { TunnelSpec } from '../descriptor/tunnel.ts'
import { TerminalError } from '../run/control-flow-errors.ts'

/** Where fields of the Deployment come from; the first that fits. */
const ORIGINS: readonly (readonly [field: RegExp, origin: string])[] = [
  [/\bspec\.template\.spec\.containers(\[0\])?\.resources\b/g, 'spec.template.resources'],
  // Culvert's own variables come first, so that the index is another.
  [/\bspec\.template\.spec\.containers(\[0\])?\.env\b(\[\d+\])?/g, 'spec.agent.env'],
  [/\bspec\.template\.spec\.containers(\[0\])?\./g, 'spec.agent.'],
  [/\bspec\.template\.metadata\./g, 'spec.template.'],
  [/\bspec\.template\.spec\./g, 'spec.template.'],
]

/** What the API server says before the reason. It quotes a refused patch in full, which errors shorten. */
const PREAMBLE = /^.*?( is invalid: (.*\}": |patch: .*…)?| cannot be handled as a \w+: )(strict decoding error: )?/s

/** Rejects with what the API server does not accept of a Tunnel's Pods, by the fields of the Tunnel. */
export function refusedPods({ template }: TunnelSpec): (error: unknown) => never {
  return (error) => {
    const isRefusal = error instanceof KubeError && (error.status === 400 || error.status === 422)
    // A policy speaks for itself.
    if (!isRefusal) throw error
    const about = template === undefined ? 'spec.agent' : 'spec.template'
    const why = ORIGINS.reduce((text, [field, origin]) => text.replaceAll(field, origin), reasonIn(error.message))
    throw new TerminalError(reasons.InvalidSpec, `${about}: the API server refuses it, correct it: ${why}`)
  }
}

function reasonIn(message: string): string {
  return message.replace(PREAMBLE, '')
}

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
