import { expect, test } from 'vitest'
import { ApiError } from '../../../../src/api/errors.ts'
import { IdsInFlight } from '../../../../src/managed/run/ids-in-flight.ts'
import { FakeClock } from '../../../builders/fake-clock.ts'

const TIMEOUT_MS = 4_000

const api = { address: 'https://api.example.com' }

async function setUp() {
  const clock = new FakeClock()
  await clock.advance(1_000)
  return { clock, inFlight: new IdsInFlight(clock, TIMEOUT_MS) }
}

test('an id that a request names is not settled while the request is under way, and is from its answer on', async () => {
  const { clock, inFlight } = await setUp()
  const since = clock.monotonic()
  let answer = (): void => undefined
  const request = inFlight.during(api, ['ipp_1'], () => new Promise<void>((resolve) => (answer = resolve)))
  expect(inFlight.settledAt(api, 'ipp_1', since)).toBeUndefined()
  expect(inFlight.settledAt(api, 'ipp_2', since)).toBe(since)
  await clock.advance(10)
  answer()
  await request
  expect(inFlight.settledAt(api, 'ipp_1', since)).toBe(since + 10)
})

test('a request without an answer may take effect until it has timed out', async () => {
  const { clock, inFlight } = await setUp()
  const since = clock.monotonic()
  const lost = new ApiError('Network', 'lost', { definite: false })
  await expect(inFlight.during(api, ['ipp_1'], () => Promise.reject(lost))).rejects.toBe(lost)
  expect(inFlight.settledAt(api, 'ipp_1', since)).toBe(since + TIMEOUT_MS)
})

test('one that was begun after the deletion was seen holds nobody up', async () => {
  const { clock, inFlight } = await setUp()
  const since = clock.monotonic()
  await clock.advance(1)
  void inFlight.during(api, ['ipp_1'], () => new Promise<void>(() => undefined))
  expect(inFlight.settledAt(api, 'ipp_1', since)).toBe(since)
})

test('the same id at another API is another object', async () => {
  const { clock, inFlight } = await setUp()
  const since = clock.monotonic()
  const other = { address: 'https://other.example.com' }
  void inFlight.during(other, ['ipp_1'], () => new Promise<void>(() => undefined))
  expect(inFlight.settledAt(api, 'ipp_1', since)).toBe(since)
  expect(inFlight.settledAt({ ...other }, 'ipp_1', since)).toBeUndefined()
  inFlight.forget(api, 'ipp_1')
  expect(inFlight.settledAt(other, 'ipp_1', since)).toBeUndefined()
})
