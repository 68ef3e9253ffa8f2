import { isObject } from '../util/json.ts'
import { KubeError } from './kube-error.ts'
import { apiVersion, collectionPath, type KubeRequest } from './request.ts'
import { callName } from './transport.ts'
import type { ResourceType } from './types.ts'

/** The API server's answer to a review, which it evaluates and does not store. */
export type ReviewStatus = Readonly<Record<string, unknown>>

/** Sends reviews to the API server: a TokenReview, a SubjectAccessReview. */
export interface Reviewer {
  /** Resolves to the `status` of the answer. Never retried. @throws KubeError */
  review(type: ResourceType, spec: Readonly<Record<string, unknown>>): Promise<ReviewStatus>
}

/** Whose token is this? */
export const tokenReviews = reviewType('authentication.k8s.io', 'tokenreviews', 'TokenReview')

/** May this user do that? */
export const subjectAccessReviews = reviewType('authorization.k8s.io', 'subjectaccessreviews', 'SubjectAccessReview')

function reviewType(group: string, plural: string, kind: string): ResourceType {
  return { group, version: 'v1', plural, kind, namespaced: false }
}

/** Sends one review. Reviews have no name. */
export async function sendReview(
  call: (request: KubeRequest) => Promise<unknown>,
  type: ResourceType,
  spec: Readonly<Record<string, unknown>>,
): Promise<ReviewStatus> {
  const request: KubeRequest = {
    verb: 'create',
    method: 'POST',
    resource: type.plural,
    path: collectionPath(type),
    body: { apiVersion: apiVersion(type), kind: type.kind, metadata: {}, spec },
  }
  const answer = await call(request)
  const status = isObject(answer) ? answer.status : undefined
  if (!isObject(status)) throw new KubeError('Unexpected', `${callName(request)}: the response has no status`)
  return status
}
