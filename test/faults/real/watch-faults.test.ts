import { inject, test } from 'vitest'
import { KubeProxy } from '../../builders/kube-proxy.ts'
import { managed } from '../../cluster/support/cases.ts'
import { World } from '../../cluster/support/world.ts'
import { CaseList } from '../support/case-list.ts'
import { silentStall, type WatchFault, watchFaults } from './support-kube/watch-faults.ts'
import { WatchRounds } from './support-kube/watch-rounds.ts'

/** Of the managed kinds, Accounts and Secrets. */
const COLLECTIONS = managed.length + 2

const groups = [
  // The operator must not be helped by abandoning a silent watch.
  { title: 'that it hears of', silence: '1h', faults: watchFaults },
  { title: 'that only its own patience tells it', silence: '5s', faults: [silentStall] },
]

const list = new CaseList('watch faults', 'real', {
  least: groups.flatMap(({ faults }) => faults).length * COLLECTIONS,
})

test.each(groups)(
  'an operator recovers from every fault of its watches $title and misses nothing afterwards',
  {
    timeout: 900_000,
  },
  async ({ silence, faults }) => {
    await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
    const flags = ['--kubeconfig', proxy.kubeconfigPath, '--watch-silence', silence, '--workers', '32']
    await using world = await World.open({ flags })
    await recoverFrom(faults, await WatchRounds.prepare(world, proxy, faults.length))
  },
)

test('every collection has met every fault', () => list.end())

async function recoverFrom(faults: readonly WatchFault[], rounds: WatchRounds): Promise<void> {
  for (const fault of faults) await rounds.under(fault, list)
}
