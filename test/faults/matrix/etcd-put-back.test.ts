import { test } from 'vitest'
import { puttingsBack } from '../simulation/restore/running.ts'
import { Laboratory } from '../simulation/world.ts'
import { CaseList } from '../support/case-list.ts'
import { leastOf, some } from '../support/size.ts'

test('operators that run take in that etcd was put back, and nobody who comes after them finds anything to do', async () => {
  const laboratory = await Laboratory.open()
  const list = new CaseList('etcd put back under operators', 'simulation', { least: leastOf(1500) })
  for (const { what, run } of some(puttingsBack, 40)) {
    const problems = await run(laboratory)
    if (problems !== undefined) list.add(what, problems)
  }
  await list.end()
})
