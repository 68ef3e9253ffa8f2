import { describe, expect, test } from 'vitest'
import { requestLimit } from '../../../../src/managed/accounts/access.ts'
import type { AccessEntry } from '../../../../src/managed/descriptor/access.ts'

const all = { namespaceSelector: {} }
const blog = { namespaceSelector: { matchLabels: { team: 'blog' } } }
const shop = { namespaceSelector: { matchLabels: { team: 'shop' } } }

describe('the requests of a namespace', () => {
  test.each<readonly [what: string, entries: readonly AccessEntry[], limit: number | undefined]>([
    ['are not limited where no entry says so', [all, blog], undefined],
    ['are limited by the one entry that says so', [{ ...all, requestsPerMinute: 60 }, blog], 60],
    [
      'are limited by the smallest of several numbers',
      [
        { ...all, requestsPerMinute: 60 },
        { ...blog, requestsPerMinute: 20 },
      ],
      20,
    ],
    ['are limited by an entry for another kind too', [{ ...blog, kinds: ['APIKey'], requestsPerMinute: 10 }, all], 10],
    ['are not limited by an entry for others', [{ ...shop, requestsPerMinute: 10 }, blog], undefined],
  ])('%s', (_what, entries, limit) => {
    expect(requestLimit(entries, { team: 'blog' })).toBe(limit)
    expect(requestLimit([...entries].reverse(), { team: 'blog' })).toBe(limit)
  })

  test('are not limited where nothing is known of it, since nothing is allowed there', () => {
    expect(requestLimit([{ ...all, requestsPerMinute: 10 }], undefined)).toBeUndefined()
    expect(requestLimit(undefined, { team: 'blog' })).toBeUndefined()
  })
})
