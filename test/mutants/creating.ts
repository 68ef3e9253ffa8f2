import { AccountCache } from '../../src/api/account-cache.ts'
import { ApiError } from '../../src/api/errors.ts'
import { networkError } from '../../src/api/failure.ts'
import { Transport } from '../../src/api/transport.ts'
import { parseAttempt } from '../../src/managed/attempt.ts'
import { ownAttempt } from '../../src/managed/cr.ts'
import { createStep } from '../../src/managed/identity/create-step.ts'
import { markerOf } from '../../src/managed/markers/marker.ts'
import { createdBy } from '../../src/managed/markers/own-objects.ts'
import { CREATE_ATTEMPT } from '../../src/managed/names.ts'
import { withItsToken } from '../../src/managed/outputs/token-recovery.ts'
import { Reconciliation } from '../../src/managed/run/reconciliation.ts'
import { type Aim, type Mutant, replaced, replacedMethod } from './seam.ts'

const anObject: Aim = { suite: 'kills', cases: '^(Backend group|SSHCredential key) / create' }
const aToken: Aim = { suite: 'kills', cases: '^(APIKey apikey|TunnelCredential tunnelcredential) / (create|rotate)' }
const aRotation: Aim = { suite: 'kills', cases: '^(APIKey apikey|TunnelCredential tunnelcredential) / rotate' }
const lateCreate: Aim = { suite: 'interrupted', cases: '^(Backend group|SSHCredential key|APIKey apikey) / create' }

/** Defects in creating an object. */
export const creating: readonly Mutant[] = [
  {
    title: 'record no attempt before the POST',
    seams: [
      replacedMethod(Reconciliation, 'patchMetadata', (original) => {
        return function (this: Reconciliation, metadata) {
          const { annotations: _attempt, ...others } = metadata
          return original.call(this, recordsAttempt(metadata) ? others : metadata)
        }
      }),
    ],
    killers: [anObject],
  },
  {
    title: 'skip the finalizer before the first POST',
    seams: [
      replacedMethod(Reconciliation, 'patchMetadata', (original) => {
        return function (this: Reconciliation, metadata) {
          const { finalizers: _finalizer, ...others } = metadata
          return original.call(this, recordsAttempt(metadata) ? others : metadata)
        }
      }),
    ],
    killers: [anObject],
  },
  {
    title: 'make the next try without finding out about the last one',
    seams: [
      replaced(createStep, (original) => (cr, memory, moment) => {
        const step = original(cr, memory, moment)
        if (step.type !== 'resolve') return step
        return { type: 'attempt', nonce: step.attempt.nonce, number: step.attempt.number + 1 }
      }),
    ],
    killers: [lateCreate],
  },
  {
    title: 'trust the first scan',
    seams: [
      replaced(createStep, (original) => (cr, memory, moment) => {
        const step = original(cr, memory, moment)
        return step.type === 'resolve' ? { ...step, scan: { ...step.scan, isLast: true } } : step
      }),
    ],
    killers: [lateCreate],
  },
  {
    title: 'scan before the last request must be over',
    seams: [
      replaced(createStep, (original) => (cr, memory, moment) => {
        const step = original(cr, memory, moment)
        if (step.type !== 'resolve' || step.scan.isLast) return step
        return { ...step, scan: { ...step.scan, notBefore: moment.now, waitMs: 0 } }
      }),
    ],
    killers: [lateCreate],
  },
  {
    title: "forget the attempt's UID: take one that was copied for one's own",
    seams: [replaced(ownAttempt, () => (cr) => parseAttempt(cr.metadata.annotations?.[CREATE_ATTEMPT]))],
    killers: [{ suite: 'restored', cases: '' }],
  },
  {
    title: 'take any object of the same UID for that of the attempt',
    seams: [
      replaced(
        createdBy,
        () =>
          (objects, { uid }) =>
            [...objects].filter((object) => markerOf(object)?.uid === uid),
      ),
    ],
    killers: [aRotation],
  },
  {
    title: 'send a POST again that got no answer',
    seams: [
      replacedMethod(Transport, 'send', (original) => {
        return async function (this: Transport, outgoing) {
          try {
            return await original.call(this, outgoing)
          } catch (error) {
            if (outgoing.method !== 'POST' || (error instanceof ApiError && error.definite)) throw error
            return await original.call(this, outgoing)
          }
        }
      }),
    ],
    killers: [lateCreate],
  },
  {
    title: 'take a lost connection for a request that was never sent',
    seams: [
      replaced(networkError, (original) => (call, cause) => {
        const { code, message } = original(call, cause)
        return new ApiError(code, message, { definite: true, cause })
      }),
    ],
    killers: [lateCreate],
  },
  {
    title: 'let an older list do',
    seams: [
      replacedMethod(AccountCache, 'ensureListed', (original) => {
        return function (this: AccountCache, collection, options = {}) {
          const { since: _since, ...others } = options
          return original.call(this, collection, others)
        }
      }),
    ],
    killers: [lateCreate],
  },
  {
    title: 'take an object whose token is lost',
    seams: [replaced(withItsToken, () => async (_run, objects) => objects[0])],
    killers: [aToken],
  },
]

/** Whether a patch of a resource's metadata records an attempt, rather than removing one. */
function recordsAttempt({ annotations }: Readonly<Record<string, unknown>>): boolean {
  return typeof (annotations as Readonly<Record<string, unknown>> | undefined)?.[CREATE_ATTEMPT] === 'string'
}
