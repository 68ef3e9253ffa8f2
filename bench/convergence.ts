import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { type Usage, usageOf } from '../test/builders/process-usage.ts'
import type { Manifest } from './cluster.ts'
import { type BareReport, type BareTask, floorOf } from './floor.ts'
import type { Load } from './loads.ts'
import { type Counts, countsOf, Place } from './place.ts'
import { exponentOf, type Row } from './row.ts'

/** After this long nothing is left to do; memory is that of rest. */
const REST_MS = 3000

/** The cost of a load of one size, each figure for all of it. */
export interface Convergence {
  readonly load: string
  readonly resources: number
  /** From the start of the process until every resource is Ready. */
  readonly seconds: number
  /** Without that of an operator that has nothing to do. */
  readonly cpuSeconds: number
  readonly peakMiB: number
  readonly residentMiB: number
  readonly counts: Counts
  readonly floor: { readonly seconds: number; readonly cpuSeconds: number; readonly requests: number }
  readonly restart: {
    /** From the start of the process until each resource was reconciled. */
    readonly seconds: number
    readonly residentMiB: number
    readonly counts: Counts
    /** Of listing what it has to know. */
    readonly floorSeconds: number
  }
}

/** An operator without resources. */
export interface Idle {
  readonly usage: Usage
  readonly rows: readonly Row[]
}

/** Starts an operator that finds an Account and nothing else. */
export async function idle(controlPlane: ControlPlane): Promise<Idle> {
  await using place = await Place.make(controlPlane, 'idle', [])
  const { operator, seconds } = await place.start()
  await place.until(operator, async () => (await operator.metric('culvert_account_state', 'ready="True"')) === 1)
  await sleep(REST_MS)
  const usage = await usageOf(operator.pid)
  await operator.stop()
  const load = 'an Account alone'
  return {
    usage,
    rows: [
      { load, figure: 'start, until it reconciles', value: seconds, unit: 's' },
      { load, figure: 'memory at rest', value: usage.residentMiB, unit: 'MiB' },
    ],
  }
}

/** Lets the bare client and then an operator make a load, each in a namespace and an account of its own. */
export async function converge(
  controlPlane: ControlPlane,
  load: Load,
  groups: number,
  without: Idle,
): Promise<Convergence> {
  const manifests = Array.from({ length: groups }, (_, group) => load.manifests(group)).flat()
  const name = `${load.name.toLowerCase().replaceAll(/\W+/g, '-')}-${groups}`
  const floor = await bareFloor(controlPlane, load, groups, { name: `${name}-floor`, manifests })
  await using place = await Place.make(controlPlane, name, manifests)
  const first = await place.start()
  await place.until(first.operator, async () => {
    return (await first.operator.metric('culvert_resources', 'ready="True"')) >= manifests.length
  })
  const seconds = first.elapsed()
  const { cpuSeconds } = await usageOf(first.operator.pid)
  await sleep(REST_MS)
  const { peakMiB, residentMiB } = await usageOf(first.operator.pid)
  const counts = await countsOf(first.operator)
  await first.operator.stop()
  return {
    load: load.name,
    resources: manifests.length,
    seconds,
    cpuSeconds: cpuSeconds - without.usage.cpuSeconds,
    peakMiB,
    residentMiB,
    counts,
    floor,
    restart: {
      ...(await restarted(place, manifests.length)),
      floorSeconds: (await bare(controlPlane, place, { job: 'list', load: load.name, groups })).seconds,
    },
  }
}

/** The figures of a load as rows. */
export function rowsOf(convergence: Convergence): readonly Row[] {
  const { load, resources, seconds, cpuSeconds, peakMiB, residentMiB, counts, floor, restart } = convergence
  const about = `${resources} ${load}`
  const each = (total: number): number => total / resources
  return [
    { load: about, figure: 'until all are Ready', value: seconds, unit: 's', floor: floor.seconds },
    {
      load: about,
      figure: 'CPU of each',
      value: each(1000 * cpuSeconds),
      unit: 'ms',
      floor: each(1000 * floor.cpuSeconds),
    },
    {
      load: about,
      figure: 'requests of each, to API and Kubernetes',
      value: each(counts.calls + counts.writes + counts.events),
      unit: '',
      floor: each(floor.requests),
    },
    { load: about, figure: 'calls of each', value: each(counts.calls), unit: '' },
    { load: about, figure: 'writes of each to Kubernetes', value: each(counts.writes), unit: '' },
    { load: about, figure: 'Events of each', value: each(counts.events), unit: '' },
    { load: about, figure: 'keys queued for each', value: each(counts.queued), unit: '' },
    { load: about, figure: 'memory, most', value: peakMiB, unit: 'MiB' },
    { load: about, figure: 'memory at rest', value: residentMiB, unit: 'MiB' },
    {
      load: about,
      figure: 'restart, until each was reconciled',
      value: restart.seconds,
      unit: 's',
      floor: restart.floorSeconds,
    },
    { load: about, figure: 'restart, calls', value: restart.counts.calls, unit: '' },
    { load: about, figure: 'restart, writes to Kubernetes', value: restart.counts.writes, unit: '' },
    { load: about, figure: 'restart, memory', value: restart.residentMiB, unit: 'MiB' },
  ]
}

/** Where growth is measured from, unless there are fewer: the start of the process is a part of each time. */
const GROWTH_FROM = 1000

/** The exponents of growth up to the largest size; of memory, what is above that of an idle operator. */
export function growthOf(results: readonly Convergence[], { usage }: Idle): readonly Row[] {
  const large = results.at(-1)
  const small = results.find((result) => result.resources >= GROWTH_FROM && result !== large) ?? results[0]
  if (small === undefined || large === undefined || small === large) return []
  const load = `${small.resources} to ${large.resources} ${small.load}`
  const row = (figure: string, costOf: (result: Convergence) => number): Row => {
    const value = exponentOf([small.resources, costOf(small)], [large.resources, costOf(large)])
    return { load, figure: `exponent of ${figure}`, value, unit: '' }
  }
  return [
    row('time', ({ seconds }) => seconds),
    row('time of the bare client', ({ floor }) => floor.seconds),
    row('CPU', ({ cpuSeconds }) => cpuSeconds),
    row('calls', ({ counts }) => counts.calls),
    row('writes', ({ counts }) => counts.writes),
    row('keys queued', ({ counts }) => counts.queued),
    row('memory', ({ peakMiB }) => peakMiB - usage.residentMiB),
  ]
}

async function restarted(place: Place, resources: number): Promise<Omit<Convergence['restart'], 'floorSeconds'>> {
  const { operator, elapsed } = await place.start()
  // A resource whose account is not set up yet is reconciled too, and waits: that does not count.
  await place.until(operator, async () => {
    return (await operator.metric('controller_runtime_reconcile_total', 'result="success"')) >= resources
  })
  const seconds = elapsed()
  await sleep(REST_MS)
  const { residentMiB } = await usageOf(operator.pid)
  const counts = await countsOf(operator)
  await operator.stop()
  return { seconds, residentMiB, counts }
}

async function bareFloor(
  controlPlane: ControlPlane,
  load: Load,
  groups: number,
  { name, manifests }: { readonly name: string; readonly manifests: readonly Manifest[] },
): Promise<Convergence['floor']> {
  await using place = await Place.make(controlPlane, name, manifests)
  return await bare(controlPlane, place, { job: 'make', load: load.name, groups })
}

function bare(
  { kubeconfigPath: kubeconfig }: ControlPlane,
  { namespace, emulator: { url: apiURL, apiKey } }: Place,
  task: Pick<BareTask, 'job' | 'load' | 'groups'>,
): Promise<BareReport> {
  return floorOf({ ...task, kubeconfig, namespace, apiURL, apiKey })
}
