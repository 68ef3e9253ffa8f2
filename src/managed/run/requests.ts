import type { KubeObject } from '../../kube/types.ts'
import type { KindDefinition } from '../../schema/definition.ts'
import { LONGEST_REQUEST } from '../descriptor/text-schemas.ts'
import { CONFIRM_IDENTITY_REQUESTED_AT, RECONCILE_REQUESTED_AT, ROTATE_REQUESTED_AT } from '../names.ts'

/** Requests that users make by annotation, each with the status field that holds the last one that was answered. */
const REQUESTS = {
  reconcile: { annotation: RECONCILE_REQUESTED_AT, answer: 'lastHandledReconcileAt' },
  rotate: { annotation: ROTATE_REQUESTED_AT, answer: 'lastHandledRotateAt' },
  confirmIdentity: { annotation: CONFIRM_IDENTITY_REQUESTED_AT, answer: 'lastHandledConfirmIdentityAt' },
} as const

export type Request = keyof typeof REQUESTS

/** The annotation by which users make the request. */
export function requestAnnotation(request: Request): string {
  return REQUESTS[request].annotation
}

/** Whether resources of the kind answer the request in their status. */
export function answersRequest({ status }: KindDefinition, request: Request): boolean {
  return Object.hasOwn(status.properties, REQUESTS[request].answer)
}

/**
 * The value of the request, answered or not, cut to what a status can hold. Undefined if there is none or it is empty.
 */
export function requestOf({ metadata }: KubeObject, request: Request): string | undefined {
  return metadata.annotations?.[REQUESTS[request].annotation]?.slice(0, LONGEST_REQUEST) || undefined
}

type Asked = KubeObject & {
  readonly status?: { readonly [Answer in (typeof REQUESTS)[Request]['answer']]?: string }
}

/** The value of the request if it has not been answered yet. */
export function openRequest(asked: Asked, request: Request): string | undefined {
  const value = requestOf(asked, request)
  return value === asked.status?.[REQUESTS[request].answer] ? undefined : value
}
