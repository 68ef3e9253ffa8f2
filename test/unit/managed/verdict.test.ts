import { describe, expect, test } from 'vitest'
import { ApiError, type ApiErrorCode } from '../../../src/api/errors.ts'
import { KubeError, type KubeErrorCode } from '../../../src/kube/errors.ts'
import { ConflictError, TerminalError, WaitError } from '../../../src/managed/reconcile/errors.ts'
import { reasons } from '../../../src/managed/status/reasons.ts'
import { verdictOf } from '../../../src/managed/status/result.ts'

type Expected = readonly [standing: string | undefined, outcome: string, reason?: string]

/** Every code, so that a new one does not compile without a line here. */
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
  const { standing, outcome } = verdictOf(error, existing, deleting)
  if (standing === undefined) return [undefined, outcome.type]
  return [standing.type, outcome.type, 'reason' in standing ? standing.reason : '']
}

describe('every error has its verdict', () => {
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
  expect(verdictOf(error(), true, false).standing).toEqual(verdictOf(error(), true, false).standing)
})

test('what has lost its object is not Ready any more; what is wrong otherwise may stay so', () => {
  const stays = (error: unknown) => (verdictOf(error, true, false).standing as { readonly existing?: boolean }).existing
  expect(stays(new TerminalError(reasons.RemoteMissing, 'it was deleted'))).toBe(false)
  expect(stays(new TerminalError(reasons.InvalidSpec, 'no'))).toBe(true)
})

test('a bug tells a status nothing of what it was about', () => {
  const { standing } = verdictOf(new Error('token abc'), true, false)
  expect(JSON.stringify(standing)).not.toContain('abc')
})
