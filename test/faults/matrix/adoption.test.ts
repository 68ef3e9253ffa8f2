import { test } from 'vitest'
import { heldTwice, hurtRivals, rivals, sharedRivals } from '../simulation/adoption/rivals.ts'
import { adoptions, hurtAdoptions } from '../simulation/adoption/turns.ts'
import { oneOf, tryAll } from '../simulation/restore/trial.ts'
import { some } from '../support/size.ts'

test('an existing object is observed, adopted, released and deleted, in an Account and in a shared account', async () => {
  await tryAll('adoption', some(oneOf(3, adoptions), 40), 150)
})

test('kills and bad answers while an existing object is observed, adopted, released or deleted', async () => {
  await tryAll('adoption during faults', some(oneOf(31, hurtAdoptions), 60), 200)
})

test('of two resources that name one object within milliseconds, one gets it and the other names the owner', async () => {
  await tryAll('adopted twice', some(oneOf(7, rivals), 40), 300)
})

test('of two resources in two namespaces that name one object, one gets it and the other reports another namespace', async () => {
  await tryAll('adopted twice by two namespaces', some(oneOf(7, sharedRivals), 20), 150)
})

test('of two resources with one id in their statuses, the older keeps the object and the other names the owner', async () => {
  await tryAll('held twice', some(heldTwice, 12), 60)
})

test('kills and bad answers while two resources name one object: one gets it and the other names the owner', async () => {
  await tryAll('adopted twice during faults', some(oneOf(11, hurtRivals), 40), 200)
})
