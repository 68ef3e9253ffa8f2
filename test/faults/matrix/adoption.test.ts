import { test } from 'vitest'
import { heldTwice, hurtRivals, rivals, sharedRivals } from '../simulation/adoption/rivals.ts'
import { adoptions, hurtAdoptions } from '../simulation/adoption/turns.ts'
import { oneOf, tryAll } from '../simulation/restore/trial.ts'
import { some } from '../support/size.ts'

test('an object that is there is observed, adopted, let go of and deleted, in an account of the namespace or a shared one', async () => {
  await tryAll('adoption', some(oneOf(3, adoptions), 40), 150)
})

test('killed, or answered badly, while an object that is there is observed, adopted, let go of or deleted', async () => {
  await tryAll('adoption amid faults', some(oneOf(31, hurtAdoptions), 60), 200)
})

test('two resources that name one object within milliseconds: one has it, and the other says who', async () => {
  await tryAll('adopted twice', some(oneOf(7, rivals), 40), 300)
})

test('two resources of two namespaces with one ClusterAccount name one object: one has it, and the other says so much', async () => {
  await tryAll('adopted twice by two namespaces', some(oneOf(7, sharedRivals), 20), 150)
})

test('two resources have one object by their statuses: the older one keeps it, and the other says who', async () => {
  await tryAll('held twice', some(heldTwice, 12), 60)
})

test('killed, or answered badly, while two resources name one object: one has it in the end, and the other says who', async () => {
  await tryAll('adopted twice amid faults', some(oneOf(11, hurtRivals), 40), 200)
})
