import { configMapType, secretType } from '../../../../src/kube/core-types.ts'
import { resourceTypeOf } from '../../../../src/managed/kinds-registry.ts'
import type { Fault, Sighting } from '../../simulation/faults.ts'
import { NAMESPACE, type SimulatedWorld } from '../../simulation/world.ts'
import * as refusals from './refusals.ts'
import { targetOf } from './target.ts'

/** A fault of a request to Kubernetes. */
export interface KubeFault {
  readonly name: string
  readonly point: 'before' | 'after' | 'for 30 s'
  /** Whether a request can meet it, by its description. Default: every one. */
  readonly meets?: (request: string) => boolean
  /** The fault of the request; undefined: only a change in the world. */
  readonly hit: (request: Sighting, world: SimulatedWorld) => Fault | undefined
  /** Whether a later request meets it too. */
  readonly lasts?: (later: Sighting, first: Sighting) => boolean
}

/** How long a refusal lasts. Virtual milliseconds. */
export const LASTING_MS = 30_000

const isCreate = (request: string): boolean => request.startsWith('kubernetes POST ')

function answered(name: string, refusal: refusals.Refusal): KubeFault {
  return { name, point: 'before', hit: (request) => ({ type: 'answer', when: 'before', answer: refusal(request) }) }
}

function wire(name: string, point: 'before' | 'after', fault: Fault): KubeFault {
  return { name, point, hit: () => fault }
}

function lasting(name: string, refusal: refusals.Refusal, lasts: KubeFault['lasts'] & object): KubeFault {
  return { ...answered(name, refusal), point: 'for 30 s', lasts }
}

/** All writes of one resource or one subresource, as named in roles. */
const sameResource = (later: Sighting, first: Sighting): boolean => {
  return later.method !== 'GET' && targetOf(later).resource === targetOf(first).resource
}

const sameRead = (later: Sighting, first: Sighting): boolean => {
  return later.method === 'GET' && !later.query.has('watch') && targetOf(later).resource === targetOf(first).resource
}

/** All writes of one object, including its status. */
const sameObject = (later: Sighting, first: Sighting): boolean => {
  const [one, other] = [targetOf(later), targetOf(first)]
  return later.method !== 'GET' && one.plural === other.plural && one.name === other.name
}

const newOfKind = (later: Sighting, first: Sighting): boolean => {
  return later.method === 'POST' && targetOf(later).plural === targetOf(first).plural
}

/** The client reads its token again and retries. */
const tokenExpired: KubeFault = {
  name: 'token expired, and there is a new one',
  point: 'before',
  hit: (request, world) => {
    world.kubeToken = `new ${world.kubeToken}`
    return { type: 'answer', when: 'before', answer: refusals.unauthorized(request) }
  },
  lasts: (later, first) => later.headers.authorization === first.headers.authorization,
}

/** Faults that every write meets: its outcome is unknown, or another client was faster. */
export const gravest: readonly KubeFault[] = [
  { name: '409: edited by somebody just before', point: 'before', hit: editedBySomebody },
  wire('commit-then-drop', 'after', { type: 'reset', when: 'after' }),
  wire('time-out', 'after', { type: 'silence', when: 'after' }),
  lasting('RBAC denied', refusals.rbacDenied, sameResource),
  { ...lasting('quota exceeded', refusals.quotaExceeded, newOfKind), meets: isCreate },
  { ...lasting('namespace terminating', refusals.namespaceTerminating, newOfKind), meets: isCreate },
]

/** Faults that writes meet in rotation. */
export const others: readonly KubeFault[] = [
  answered('409', refusals.conflict),
  answered('410', refusals.expired),
  answered('429 with Retry-After', refusals.tooManyRequests),
  answered('429', refusals.tooManyRequestsWithoutTime),
  answered('500', refusals.internalError),
  answered('503', refusals.unavailable),
  wire('time-out', 'before', { type: 'silence', when: 'before' }),
  wire('reset', 'before', { type: 'reset', when: 'before' }),
  {
    name: '504',
    point: 'after',
    hit: (request) => ({ type: 'answer', when: 'after', answer: refusals.timedOut(request) }),
  },
  {
    name: '502 with HTML',
    point: 'after',
    hit: (request) => ({ type: 'answer', when: 'after', answer: refusals.badGateway(request) }),
  },
  wire('truncated body', 'after', { type: 'cut' }),
  lasting('denied by a webhook with 403', refusals.webhookForbids, sameObject),
  lasting('denied by a webhook with 400', refusals.webhookRejects, sameObject),
  lasting('denied by a policy with 422', refusals.policyInvalid, sameObject),
  lasting('webhook out of reach', refusals.webhookDown, sameObject),
  lasting('unavailable', refusals.unavailable, () => true),
  lasting('no token is taken', refusals.unauthorized, () => true),
  tokenExpired,
]

/**
 * Faults that reads meet in rotation: only those that last reach the operator, because the client retries on its own.
 */
export const ofReads: readonly KubeFault[] = [
  lasting('RBAC denied', refusals.rbacDenied, sameRead),
  answered('500', refusals.internalError),
  lasting('unavailable', refusals.unavailable, sameRead),
  answered('429 with Retry-After', refusals.tooManyRequests),
  wire('time-out', 'before', { type: 'silence', when: 'before' }),
  wire('truncated body', 'after', { type: 'cut' }),
  lasting('no token is taken', refusals.unauthorized, () => true),
  tokenExpired,
]

const isRead = (request: string): boolean => request.startsWith('kubernetes GET ')

function answeredAfter(name: string, refusal: refusals.Refusal): KubeFault {
  return { name, point: 'after', hit: (request) => ({ type: 'answer', when: 'after', answer: refusal(request) }) }
}

/**
 * A 404 for something that exists. An API server that says so of an object that is read lies about its own content,
 * which nobody can detect; any other 404 may come from an intermediary.
 */
export const notFounds: readonly KubeFault[] = [
  { ...answered('404 with a Status', refusals.notFound), meets: (request) => !isRead(request) },
  answered('404 of a proxy', refusals.noRoute),
  { ...answeredAfter('404 with a Status', refusals.notFound), meets: (request) => !isRead(request) },
  answeredAfter('404 of a proxy', refusals.noRoute),
  lasting('404 of a proxy to everything', refusals.noRoute, () => true),
]

/** Another client changes the object about to be written, or takes the name about to be created, for a while. */
function editedBySomebody(request: Sighting, world: SimulatedWorld): undefined {
  const { plural, name } = targetOf(request)
  const key = { namespace: NAMESPACE, name }
  const descriptor = world.kinds.managed.find(({ definition }) => definition.plural === plural)
  const held = plural === configMapType.plural ? configMapType : secretType
  const type = descriptor === undefined ? held : resourceTypeOf(descriptor)
  if (request.method === 'POST') {
    world.server.create(type, key, { data: {} })
    world.time.setTimer(LASTING_MS, () => world.kube.delete(type, key))
  } else if (world.kube.get(type, key) !== undefined) {
    world.server.patch(type, key, { metadata: { annotations: { 'example.com/edited': 'just before' } } })
  }
  return undefined
}
