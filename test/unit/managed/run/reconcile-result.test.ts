import { describe, expect, test } from 'vitest'
import { ApiError, type ApiErrorCode } from '../../../../src/api/errors.ts'
import { KubeError, type KubeErrorCode } from '../../../../src/kube/kube-error.ts'
import { reasons } from '../../../../src/managed/descriptor/reasons.ts'
import { ConflictError, TerminalError, WaitError } from '../../../../src/managed/run/control-flow-errors.ts'
import { resultOf } from '../../../../src/managed/run/result.ts'

type Expected = readonly [state: string | undefined, outcome: string, reason?: string]

/** Every code, so that a new one without a line here does not compile. */
const apiCodes: Readonly<Record<ApiErrorCode, Expected>> = {
  Invalid: ['stalled', 'terminal', 'Rejected'],
  Forbidden: ['stalled', 'terminal', 'Rejected'],
  NotFound: ['failing', 'backoff', 'ApiError'],
  Conflict: ['stalled', 'terminal', 'Conflict'],
  HostNotAllowed: ['stalled', 'terminal', 'ApiError'],
  Redirect: ['stalled', 'terminal', 'ApiError'],
  NotLeader: [undefined, 'backoff'],
  Aborted: [undefined, 'backoff'],
  Unauthorized: ['failing', 'backoff', 'AccountNotReady'],
  Suspended: ['failing', 'backoff', 'AccountNotReady'],
  Unlistable: ['failing', 'backoff', 'CollectionNotListable'],
  RateLimited: ['failing', 'backoff', 'ApiError'],
  ServerError: ['failing', 'backoff', 'ApiError'],
  Timeout: ['failing', 'backoff', 'ApiError'],
  Network: ['failing', 'backoff', 'ApiError'],
  InvalidResponse: ['failing', 'backoff', 'ApiError'],
}

const kubeCodes: Readonly<Record<KubeErrorCode, Expected>> = {
  Unauthorized: ['failing', 'backoff', 'KubernetesError'],
  Forbidden: ['failing', 'backoff', 'KubernetesError'],
  NotFound: ['failing', 'backoff', 'KubernetesError'],
  AlreadyExists: ['failing', 'backoff', 'KubernetesError'],
  Conflict: [undefined, 'backoff'],
  Gone: ['failing', 'backoff', 'KubernetesError'],
  Invalid: ['failing', 'backoff', 'KubernetesError'],
  TooManyRequests: ['failing', 'backoff', 'KubernetesError'],
  Unavailable: ['failing', 'backoff', 'KubernetesError'],
  Timeout: ['failing', 'backoff', 'KubernetesError'],
  Network: ['failing', 'backoff', 'KubernetesError'],
  NotLeader: [undefined, 'backoff'],
  Aborted: [undefined, 'backoff'],
  Unexpected: ['failing', 'backoff', 'KubernetesError'],
}

function summary(error: unknown, existing = true, deleting = false): Expected {
  const { state, outcome } = resultOf(error, existing, deleting)
  if (state === undefined) return [undefined, outcome.type]
  return [state.type, outcome.type, 'reason' in state ? state.reason : '']
}

describe('every error has its result', () => {
  test.each(Object.entries(apiCodes))('ApiError %s: %s', (code, expected) => {
    expect(summary(new ApiError(code as ApiErrorCode, 'POST things: no', { definite: true }))).toEqual(expected)
  })

  test.each(Object.entries(kubeCodes))('KubeError %s: %s', (code, expected) => {
    expect(summary(new KubeError(code as KubeErrorCode, 'PATCH things: no'))).toEqual(expected)
  })

  test('waiting, being refused for good, a conflict, a bug', () => {
    expect(summary(new WaitError(reasons.ReferenceNotReady, 'wait', 10))).toEqual([
      'progressing',
      'after',
      'ReferenceNotReady',
    ])
    expect(summary(new WaitError(reasons.Deleting, 'in use', 10), true, true)).toEqual([
      'deleting',
      'after',
      'Deleting',
    ])
    expect(summary(new WaitError(reasons.AccountNotReady, 'listing', 10, true))).toEqual([undefined, 'after'])
    expect(summary(new TerminalError(reasons.InvalidSpec, 'no'))).toEqual(['stalled', 'terminal', 'InvalidSpec'])
    expect(summary(new ConflictError(undefined))).toEqual([undefined, 'backoff'])
    expect(summary(new TypeError('undefined is not a function'))).toEqual(['failing', 'backoff', 'OperatorError'])
    expect(summary('thrown text')).toEqual(['failing', 'backoff', 'OperatorError'])
  })
})

test('what a status says does not change while the cause stays', () => {
  const error = () =>
    new ApiError('ServerError', 'POST things: 500', { definite: false, operationId: String(Math.random()) })
  expect(resultOf(error(), true, false).state).toEqual(resultOf(error(), true, false).state)
})

test('what has lost its object is not Ready any more; what is wrong otherwise may stay so', () => {
  const stays = (error: unknown) => (resultOf(error, true, false).state as { readonly existing?: boolean }).existing
  expect(stays(new TerminalError(reasons.RemoteMissing, 'it was deleted'))).toBe(false)
  expect(stays(new TerminalError(reasons.InvalidSpec, 'no'))).toBe(true)
})

test('a bug tells a status nothing of what it was about', () => {
  const { state } = resultOf(new Error('token abc'), true, false)
  expect(JSON.stringify(state)).not.toContain('abc')
})
