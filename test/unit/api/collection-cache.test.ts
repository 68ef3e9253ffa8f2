import { expect, test } from 'vitest'
import { CollectionCache } from '../../../src/api/collection-cache.ts'

test('the latest 8,000 deleted objects are remembered', () => {
  const cache = new CollectionCache()
  for (let index = 0; index < 8001; index += 1) cache.wrote(`b_${index}`, undefined, index)
  expect([0, 1, 8000].map((index) => cache.isDeleted(`b_${index}`))).toEqual([false, true, true])
})
