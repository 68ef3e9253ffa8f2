import type { KubeObject } from '../../kube/types.ts'
import type { ResourceName } from '../../managed/cr.ts'

/** State of a resource that has no condition Ready for its present spec. */
export const WAITING = 'Waiting'

/** How one resource stands, in words. */
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
  // A condition of an older spec says nothing of this one.
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

/** The part of a status that is shown. */
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
