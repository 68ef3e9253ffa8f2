import type { PassingRequest, ProxyAct } from '../../../builders/kube-proxy.ts'
import type { Fault } from './writes.ts'

/** A fault of a write to Kubernetes. */
export interface KubeFault extends Fault {
  readonly name: string
  /** Whether the write has taken effect when its sender learns of the fault. */
  readonly point: 'before the write' | 'after the write'
  /** Which writes can meet it. Default: all. */
  readonly meets?: (sort: string) => boolean
}

/** A lasting refusal hits the write, the operator's report of it, and the next attempt. */
const LASTING = 3
/** A client whose token is rejected reads the token again, and retries once before it gives up. */
const WITH_FRESH_TOKEN = 2 * LASTING

/** Quotas and terminating namespaces refuse only new objects. */
const isCreate = (sort: string): boolean => sort.startsWith('POST ')

function before(name: string, times: number, act: KubeFault['act'], meets?: KubeFault['meets']): KubeFault {
  return { name, point: 'before the write', times, act, ...(meets === undefined ? {} : { meets }) }
}

function after(name: string, act: ProxyAct): KubeFault {
  return { name, point: 'after the write', times: 1, act: () => act }
}

function answered(status: number, reason: string, message: string): ProxyAct {
  return { type: 'answer', status, reason, message }
}

/** The message of a refusal, as the apiserver begins it. */
function forbidden(request: PassingRequest, why: string, details: object = {}): ProxyAct {
  const { name, plural } = placeOf(request)
  const message = `${plural} "${name}" is forbidden: ${why}`
  return { type: 'answer', status: 403, reason: 'Forbidden', message, details: { name, kind: plural, ...details } }
}

function placeOf({ path, body, method }: PassingRequest): { readonly name: string; readonly plural: string } {
  const parts = path.replace(/\/status$/, '').split('/')
  if (method !== 'POST') return { name: parts.at(-1) ?? '', plural: parts.at(-2) ?? '' }
  const { metadata } = JSON.parse(body) as { readonly metadata?: { readonly name?: string } }
  return { name: metadata?.name ?? '', plural: parts.at(-1) ?? '' }
}

const WEBHOOK = 'admission webhook "policies.example.com" denied the request: not today'

/** Every fault of a write to Kubernetes. */
export const kubeFaults: readonly KubeFault[] = [
  before('409', 1, () => answered(409, 'Conflict', 'the object has been modified; please apply your changes to it')),
  before('410', 1, () => answered(410, 'Expired', 'the provided resource version is too old')),
  before('429 with Retry-After', 1, () => ({
    ...(answered(429, 'TooManyRequests', 'too many requests, please try again later') as { type: 'answer' } & ProxyAct),
    retryAfter: 1,
  })),
  before('500', 1, () => answered(500, 'InternalError', 'etcdserver: leader changed')),
  before('503', 1, () => answered(503, 'ServiceUnavailable', 'the server is currently unable to handle the request')),
  before('reset', 1, () => ({ type: 'drop', when: 'before' })),
  after('commit-then-drop', { type: 'drop', when: 'after' }),
  after('commit-then-504', {
    type: 'answer',
    when: 'after',
    status: 504,
    reason: 'Timeout',
    message: 'request did not complete within the allotted timeout',
  }),
  before(
    'quota exceeded',
    LASTING,
    (request) => forbidden(request, 'exceeded quota: objects, requested: 1, used: 40, limited: 40'),
    isCreate,
  ),
  before(
    'terminating namespace',
    LASTING,
    (request) =>
      forbidden(request, 'unable to create new content in namespace because it is being terminated', {
        causes: [
          { reason: 'NamespaceTerminating', message: 'namespace is being terminated', field: 'metadata.namespace' },
        ],
      }),
    isCreate,
  ),
  before('admission denied by a 403', LASTING, () => answered(403, 'Forbidden', WEBHOOK)),
  before('admission denied by a 400', LASTING, () => answered(400, 'BadRequest', WEBHOOK)),
  before('RBAC denied', LASTING, (request) =>
    forbidden(request, 'User "culvert" cannot do that at the namespace scope'),
  ),
  before('expired token', WITH_FRESH_TOKEN, () => answered(401, 'Unauthorized', 'Unauthorized')),
]
