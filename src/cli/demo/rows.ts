import type { KubeObject } from '../../kube/types.ts'
import type { ResourceName } from '../../managed/cr.ts'

/** State of a resource without a condition Ready for its current spec. */
export const WAITING = 'Waiting'

/** State of one resource, as text. */
export interface Row {
  readonly kind: string
  readonly name: string
  /** Id at the API; empty while there is none, and for accounts. */
  readonly id: string
  /** Reason of the condition Ready, or `WAITING`. */
  readonly state: string
  readonly message: string
  readonly ready: boolean
}

/** The row of a resource as last seen; undefined: not seen yet. */
export function rowOf({ kind, name }: ResourceName, object: KubeObject | undefined): Row {
  const status = (object?.status ?? {}) as Status
  const ready = status.conditions?.find(({ type }) => type === 'Ready')
  // A condition for an older spec says nothing about this one.
  const current = ready?.observedGeneration === object?.metadata.generation ? ready : undefined
  return {
    kind,
    name,
    id: status.id ?? '',
    state: current?.reason ?? WAITING,
    message: current?.message ?? '',
    ready: current?.status === 'True',
  }
}

/** The parts of a status that are shown. */
interface Status {
  readonly id?: string
  readonly conditions?: readonly {
    readonly type: string
    readonly status: string
    readonly reason: string
    readonly message: string
    readonly observedGeneration?: number
  }[]
}
