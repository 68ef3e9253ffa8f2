import { test } from 'vitest'
import { managed } from '../simulation/spec-families.ts'
import { takeWalks } from '../simulation/walk-plans.ts'

test('specs that follow each other at any pace lead to the same object as the last one alone: the other half', {
  tags: 'nightly',
}, async () => {
  await takeWalks(
    'transitions, second half',
    managed.filter((_, index) => index % 2 === 1),
  )
})
