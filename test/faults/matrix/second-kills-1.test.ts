import { test } from 'vitest'
import { killTwice } from './second-kills.ts'

test('killed again while the next process finds out what the first one did: first half', {
  tags: 'nightly',
}, async () => {
  await killTwice('second kills, first half', 0)
})
