import { expect, it } from 'vitest'
import { redact, secretsIn } from '../../../src/api/failure.ts'

it('the secrets of a body are the strings under names of secrets, at any depth', () => {
  const body = {
    description: 'plain',
    target: { monitor: { api_key: 'k', service: 's' }, kinesis: { auth: { creds: { cloud_secret_access_key: 'c' } } } },
    headers: { Authorization: 'a', 'Content-Type': 'text/plain' },
    tokens: ['t1', { nested: 't2' }],
    password: '',
  }
  expect(secretsIn(body).sort((a, b) => (a < b ? -1 : 1))).toEqual(['a', 'c', 'k', 't1', 't2'])
})

it('a secret inside a longer secret leaves nothing of the longer one', () => {
  expect(redact('abcdef abc', ['abc', 'abcdef', ''])).toBe('[redacted] [redacted]')
})
