import { test } from 'vitest'
import { puttingsBack } from '../simulation/restore/running.ts'
import { oneOf, tryAll } from '../simulation/restore/trial.ts'
import { some } from '../support/size.ts'

test('operators that run take in that etcd was put back, and nobody who comes after them finds anything to do', async () => {
  await tryAll('etcd put back under operators', some(oneOf(4, puttingsBack), 40), 340)
})
