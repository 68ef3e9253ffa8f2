import type { Sighting, WireAnswer } from '../../simulation/faults.ts'
import { status } from '../../simulation/kube-server.ts'
import { NAMESPACE } from '../../simulation/world.ts'
import { type Target, targetOf } from './target.ts'

/** Answers that refuse a request, worded as by API servers and by what is in front of them and behind them. */
export type Refusal = (request: Sighting) => WireAnswer

/** The service account of the operator. */
const USER = 'system:serviceaccount:culvert-system:culvert'
const POLICY = 'policies.example.com'

export const conflict: Refusal = (request) => {
  const { qualified, name, details } = targetOf(request)
  const message = `Operation cannot be fulfilled on ${qualified} "${name}": the object has been modified; please apply your changes to the latest version and try again`
  return status(409, 'Conflict', message, { details })
}

export const expired: Refusal = () => status(410, 'Expired', 'The resourceVersion for the provided request is too old.')

/** A refusal by priority and fairness, which sends no Status. */
export const tooManyRequests: Refusal = () => ({
  status: 429,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'retry-after': '5' },
  body: 'Too many requests, please try again later.\n',
})

export const tooManyRequestsWithoutTime: Refusal = (request) => {
  return status(429, 'TooManyRequests', 'Too many requests, please try again later.', {
    details: targetOf(request).details,
  })
}

export const internalError: Refusal = () => {
  const message = 'etcdserver: leader changed'
  return status(500, 'InternalError', `Internal error occurred: ${message}`, { details: { causes: [{ message }] } })
}

/** A required webhook that is unreachable. */
export const webhookDown: Refusal = () => {
  const message = `failed calling webhook "${POLICY}": failed to call webhook: Post "https://policies.example.svc:443/?timeout=10s": context deadline exceeded`
  return status(500, 'InternalError', `Internal error occurred: ${message}`, { details: { causes: [{ message }] } })
}

export const unavailable: Refusal = () => {
  return status(503, 'ServiceUnavailable', 'the server is currently unable to handle the request')
}

/** The answer of a load balancer without an API server behind it. */
export const badGateway: Refusal = () => ({
  status: 502,
  headers: { 'content-type': 'text/html' },
  body: '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>',
})

/** The API server's answer for a missing object. */
export const notFound: Refusal = (request) => {
  const { qualified, name, details } = targetOf(request)
  return status(404, 'NotFound', `${qualified} "${name}" not found`, { details })
}

/** The answer of a proxy that has lost its route. */
export const noRoute: Refusal = () => ({
  status: 404,
  headers: { 'content-type': 'text/html' },
  body: '<html><head><title>404 Not Found</title></head><body>nginx</body></html>',
})

export const timedOut: Refusal = () => {
  return status(
    504,
    'Timeout',
    'Timeout: request did not complete within requested timeout - context deadline exceeded',
  )
}

export const unauthorized: Refusal = () => status(401, 'Unauthorized', 'Unauthorized')

export const quotaExceeded: Refusal = (request) => {
  const { plural } = targetOf(request)
  return forbidden(
    request,
    `exceeded quota: objects, requested: count/${plural}=1, used: count/${plural}=40, limited: count/${plural}=40`,
  )
}

export const namespaceTerminating: Refusal = (request) => {
  const message = `unable to create new content in namespace ${NAMESPACE} because it is being terminated`
  const causes = [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${NAMESPACE} is being terminated`,
      field: 'metadata.namespace',
    },
  ]
  return forbidden(request, message, { causes })
}

export const rbacDenied: Refusal = (request) => {
  const { resource, group, verb } = targetOf(request)
  const what = `User "${USER}" cannot ${verb} resource "${resource}" in API group "${group}" in the namespace "${NAMESPACE}"`
  return forbidden(request, what)
}

export const webhookForbids: Refusal = () => status(403, 'Forbidden', denied('not on a Friday'))

/** A rejection by a webhook that sets no code of its own. */
export const webhookRejects: Refusal = () => status(400, 'BadRequest', denied('not on a Friday'))

/** A ValidatingAdmissionPolicy. */
export const policyInvalid: Refusal = (request) => {
  const { qualified, name, details } = targetOf(request)
  const message = "ValidatingAdmissionPolicy 'fridays' with binding 'fridays' denied request: not on a Friday"
  const causes = [{ message }]
  return status(422, 'Invalid', `${qualified} "${name}" is forbidden: ${message}`, {
    details: { ...details, causes },
  })
}

function denied(why: string): string {
  return `admission webhook "${POLICY}" denied the request: ${why}`
}

function forbidden(request: Sighting, why: string, more: Readonly<Record<string, unknown>> = {}): WireAnswer {
  const { qualified, name, details }: Target = targetOf(request)
  return status(403, 'Forbidden', `${qualified} "${name}" is forbidden: ${why}`, { details: { ...details, ...more } })
}
