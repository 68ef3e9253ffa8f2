import { expect, test } from 'vitest'
import { collections } from '../../../src/api/collections.ts'
import { ApiError } from '../../../src/api/errors.ts'
import type { CompleteList } from '../../../src/api/types.ts'
import { patientReader } from '../../../src/cli/account-client.ts'
import { FakeClock } from '../../builders/fake-clock.ts'

const list: CompleteList = { objects: [{ id: 'ipp_1' }], beganAt: 0, pages: 1, leftOut: 0 }
const limited = new ApiError('RateLimited', 'GET ip_policies: 429', {
  definite: true,
  status: 429,
  retryAfterMs: 45_000,
})

/** A reader that fails with these errors, one after another, before it answers. */
function failing(errors: readonly ApiError[]) {
  const left = [...errors]
  return {
    list: (): Promise<CompleteList> => {
      const error = left.shift()
      return error === undefined ? Promise.resolve(list) : Promise.reject(error)
    },
  }
}

test('a list is read again after the pause that the API asks for, which is reported', async () => {
  const clock = new FakeClock()
  const told: string[] = []
  const reading = patientReader(failing([limited, limited]), clock, (text) => told.push(text)).list(
    collections.ipPolicies,
  )
  await clock.advance(90_000)
  expect(await reading).toBe(list)
  expect(told).toEqual(Array(2).fill('the API requests a pause: reading ip_policies again in 45 s'))
})

test('any other failure ends it at once', async () => {
  const refused = new ApiError('Unauthorized', 'GET ip_policies: 401', { definite: true, status: 401 })
  await expect(
    patientReader(failing([refused]), new FakeClock(), () => undefined).list(collections.ipPolicies),
  ).rejects.toBe(refused)
})
