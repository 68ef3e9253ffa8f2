import { test } from 'vitest'
import { manifests } from '../simulation/restore/manifests.ts'
import { overlaps } from '../simulation/restore/overlaps.ts'
import { oneOf, tryAll } from '../simulation/restore/trial.ts'
import { some } from '../support/size.ts'

/** Runs one of this many of the thousands of pairs of moments; coprime to their order. */
const ONE_OF = 3

test('annotations from before a replacement come back during the overlap: both objects stay, and no third is created', async () => {
  await tryAll('old manifests in an overlap', some(overlaps, 18), 18)
})

test('a manifest of any earlier moment is applied at any later moment of a reconcile', async () => {
  await tryAll('old manifests', some(oneOf(ONE_OF, manifests), 60), 1_000)
})
