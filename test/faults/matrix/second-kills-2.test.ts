import { test } from 'vitest'
import { killTwice } from './second-kills.ts'

test('killed again while the next process finds out what the first one did: second half', {
  tags: 'nightly',
}, async () => {
  await killTwice('second kills, second half', 1)
})
