import type { KubeObject } from '../../kube/types.ts'
import { LONGEST_REQUEST } from '../descriptor/answer.ts'
import { CONFIRM_IDENTITY_REQUESTED_AT, RECONCILE_REQUESTED_AT, ROTATE_REQUESTED_AT } from '../names.ts'

/** What users ask for by an annotation, each with the status field that holds the value of the last request that was answered. */
const REQUESTS = {
  reconcile: { annotation: RECONCILE_REQUESTED_AT, answer: 'lastHandledReconcileAt' },
  rotate: { annotation: ROTATE_REQUESTED_AT, answer: 'lastHandledRotateAt' },
  confirmIdentity: { annotation: CONFIRM_IDENTITY_REQUESTED_AT, answer: 'lastHandledConfirmIdentityAt' },
} as const

export type Request = keyof typeof REQUESTS

/** The value of the request, answered or not; longer than a status can say is cut. Undefined without one, and for an empty one. */
export function requestOf({ metadata }: KubeObject, request: Request): string | undefined {
  return metadata.annotations?.[REQUESTS[request].annotation]?.slice(0, LONGEST_REQUEST) || undefined
}

type Asked = KubeObject & {
  readonly status?: { readonly [Answer in (typeof REQUESTS)[Request]['answer']]?: string }
}

/** The value of the request while it is still to be answered. */
export function openRequest(asked: Asked, request: Request): string | undefined {
  const value = requestOf(asked, request)
  return value === asked.status?.[REQUESTS[request].answer] ? undefined : value
}
