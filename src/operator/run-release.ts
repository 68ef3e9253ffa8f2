import { kinds } from '../kinds/index.ts'
import { createKubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/kube-error.ts'
import { loadKubeConnection } from '../kube/load-config.ts'
import { holdName } from '../managed/accounts/namespace-hold.ts'
import { KindsRegistry } from '../managed/kinds-registry.ts'
import { type Departure, releaseEverything } from '../managed/uninstall/release.ts'
import { LeaderElection } from '../runtime/leader-election.ts'
import { lockHolder } from '../runtime/lease-lock.ts'
import { systemClock } from '../util/clock.ts'
import { systemRandom } from '../util/random.ts'
import { type OperatorOptions, refuseUnsafeTimes } from './options.ts'
import { USER_AGENT } from './sessions.ts'

export interface ReleaseOptions {
  /** How long to wait for the Lease of a running operator, in milliseconds. */
  readonly timeoutMs: number
  /** Prints a line for the person who asked for the release. */
  readonly print: (line: string) => void
}

/**
 * Releases every resource without a call to any account, so that Culvert can be removed: see docs/leaving.md. Leads
 * meanwhile, so that no operator takes over what was released.
 *
 * @returns the exit code of the process: 0 when everything was released.
 */
export async function runRelease(
  options: OperatorOptions,
  { timeoutMs, print }: ReleaseOptions,
  signal: AbortSignal,
): Promise<number> {
  if (!options.leaderElect) throw new RangeError('--release needs the Lease: remove --no-leader-elect')
  refuseUnsafeTimes(options)
  const connection = loadKubeConnection(options)
  const shared = { connection, clock: systemClock, random: systemRandom, userAgent: USER_AGENT }
  const electionKube = createKubeClient({ ...shared, timeoutMs: 3_000, maxRetries: 0 })
  const kube = createKubeClient({
    ...shared,
    writeTimeoutMs: options.requestTimeoutMs,
    beforeWrite: () => election.assertLeader(),
  })
  const ended = new AbortController()
  let departure: Promise<Departure> | undefined
  const election: LeaderElection = new LeaderElection({
    ...options,
    client: electionKube,
    clock: systemClock,
    random: systemRandom,
    onStartedLeading: () => {
      const { watchNamespaces: namespaces, namespace: operatorNamespace, name } = options
      const place = { namespaces, operatorNamespace, holdName: holdName(operatorNamespace, name) }
      const leaving = { kube, kinds: new KindsRegistry(kinds), ...place, tell: print }
      departure = releaseEverything(leaving, signal).finally(() => ended.abort())
      departure.catch(() => undefined)
    },
    onStoppedLeading: async () => {
      await departure?.catch(() => undefined)
    },
  })
  const cancelTimeout = systemClock.setTimer(timeoutMs, () => {
    if (departure === undefined) ended.abort()
  })
  const lease = { namespace: options.namespace, name: options.name }
  const leaseText = `Lease ${lease.namespace}/${lease.name}`
  try {
    const holder = await lockHolder(electionKube, lease)
    if (holder !== undefined) print(`${leaseText} is held by ${holder}: waiting for it to be released`)
    await election.run(AbortSignal.any([signal, ended.signal]))
    if (departure === undefined) {
      const left = (await lockHolder(electionKube, lease)) ?? 'nobody'
      print(`Nothing was released: ${leaseText} is held by ${left}. Stop the operator first, then run this again.`)
      return 1
    }
    return conclude(await departure, print)
  } catch (error) {
    if (!signal.aborted && !(error instanceof KubeError)) throw error
    const why = signal.aborted ? 'told to stop' : (error as KubeError).message
    print(`Not everything was released: ${why}. Run this again to finish.`)
    return 1
  } finally {
    cancelTimeout()
    await Promise.all([kube.close(), electionKube.close()])
  }
}

function conclude(departure: Departure, print: (line: string) => void): number {
  const { resources, objects, outputs, keptKeys, failures } = departure
  print(`Released: resources ${resources}, objects that they own ${outputs}. Removed: copies of API keys ${keptKeys}.`)
  print(`Left behind: remote objects ${objects}; the resources themselves with their status; the CRDs.`)
  if (failures === 0) return 0
  print(`${failures} could not be released, see above: fix the cause and run this again.`)
  return 1
}
