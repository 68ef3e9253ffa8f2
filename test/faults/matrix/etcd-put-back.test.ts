import { test } from 'vitest'
import { puttingsBack } from '../simulation/restore/running.ts'
import { oneOf, tryAll } from '../simulation/restore/trial.ts'
import { some } from '../support/size.ts'

test('running operators notice that etcd was restored, and the next process finds nothing to do', async () => {
  await tryAll('etcd put back under operators', some(oneOf(4, puttingsBack), 40), 340)
})
