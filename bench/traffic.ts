import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { usageOf } from '../test/builders/process-usage.ts'
import { quantile } from './quantile.ts'
import type { Row } from './row.ts'
import { type Amounts, type Figures, measure, openIdle } from './traffic/load.ts'
import { type Path, startCulvert, startOpenSSH, startProgram, startRelays } from './traffic/paths.ts'

export interface TrafficOptions {
  /** The program of the image. */
  readonly program: string
  /** A tenth of it. */
  readonly isQuick: boolean
  /** Where CPU profiles of gateway and agent are written; undefined: none. Profiles slow both down. */
  readonly profiles: string | undefined
}

/** Connections that are opened before memory is read for the first time, so that code is not counted. */
const WARM_UP = 100
/** How long idle connections are left alone before memory is read, in milliseconds. */
const REST_MS = 3000

/**
 * The path from a client through edge, gateway and agent to a service, compared to two plain relays in as many
 * processes, and to `ssh -R` through OpenSSH's server. All are started once and measured in turn, so that what else the
 * machine does falls on all; each figure is the median of the rounds.
 */
export async function run({ program, isQuick, profiles }: TrafficOptions): Promise<readonly Row[]> {
  const amounts: Amounts = isQuick
    ? { streams: 100, MiB: 64, requests: 500, connects: 200 }
    : { streams: 100, MiB: 512, requests: 5000, connects: 1000 }
  const [rounds, idle] = isQuick ? [3, 500] : [5, 2000]
  const [service, child] = await startProgram('service')
  await using paths = new AsyncDisposableStack()
  paths.defer(() => void child.disconnect())
  const culvert = paths.use(await startCulvert(service, { program, agent: 'culvert', profiles }))
  const mixed = paths.use(await startCulvert(service, { program, agent: 'ssh', profiles: undefined }))
  const relays = paths.use(await startRelays(service))
  const openSSH = await startOpenSSH(service)
  if (openSSH !== undefined) paths.use(openSSH)
  const others = [relays, ...(openSSH === undefined ? [] : [openSSH])]
  const all = [culvert, mixed, ...others]
  // First, while no process has grown: after the load, none would have to grow for them.
  const memory = new Map<Path, number>()
  for (const path of all) memory.set(path, await idleKiB(path, idle))
  const found = new Map<Path, Figures[]>(all.map((path) => [path, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const path of all) found.get(path)?.push(await measure(path.place, amounts))
  }
  const medians = new Map<Path, Figures>(all.map((path) => [path, medianOf(found.get(path) ?? [])]))
  const rows: Row[] = []
  for (const measured of [culvert, mixed]) {
    for (const other of others) {
      const [figures, floor] = [medians.get(measured), medians.get(other)]
      if (figures === undefined || floor === undefined) continue
      const load = `${measured.name}, compared to ${other.name}`
      for (const [name, figure, unit] of FIGURES) {
        rows.push({ load, figure, value: figures[name], unit, floor: floor[name] })
      }
      const figure = 'memory of all processes for an idle connection'
      rows.push({ load, figure, value: memory.get(measured) ?? 0, unit: 'KiB', floor: memory.get(other) ?? 0 })
    }
  }
  return rows
}

const FIGURES: readonly (readonly [keyof Figures, string, Row['unit']])[] = [
  ['download', 'one stream to the client', 'MiB/s'],
  ['upload', 'one stream from the client', 'MiB/s'],
  ['manyDownload', '100 streams to the client', 'MiB/s'],
  ['manyUpload', '100 streams from the client', 'MiB/s'],
  ['requestP50', 'a request of 100 bytes, median', 'ms'],
  ['requestP99', 'a request of 100 bytes, 99 of 100', 'ms'],
  ['connectP50', 'the same with its connection, median', 'ms'],
  ['connectP99', 'the same with its connection, 99 of 100', 'ms'],
]

function medianOf(rounds: readonly Figures[]): Figures {
  const median = (name: keyof Figures): number => {
    const values = rounds.map((figures) => figures[name])
    return quantile(values, 0.5)
  }
  return {
    download: median('download'),
    upload: median('upload'),
    manyDownload: median('manyDownload'),
    manyUpload: median('manyUpload'),
    requestP50: median('requestP50'),
    requestP99: median('requestP99'),
    connectP50: median('connectP50'),
    connectP99: median('connectP99'),
  }
}

/** By how much the processes of a path grow for each connection that is open and silent, in KiB. */
async function idleKiB(path: Path, count: number): Promise<number> {
  const resident = async (): Promise<number> => {
    const started = await Promise.all(path.pids.map(startedBy))
    const usages = await Promise.all([...path.pids, ...started.flat()].map(usageOf))
    return usages.reduce((sum, { residentMiB }) => sum + residentMiB, 0)
  }
  for (const socket of await openIdle(path.place, WARM_UP)) socket.destroy()
  await sleep(REST_MS)
  const before = await resident()
  const sockets = await openIdle(path.place, count)
  await sleep(REST_MS)
  const after = await resident()
  for (const socket of sockets) socket.destroy()
  return ((after - before) * 1024) / count
}

/** The processes that a process has started, and those that they have. Reads `/proc`, so Linux only. */
async function startedBy(pid: number): Promise<readonly number[]> {
  const all = (await readdir('/proc')).map(Number).filter((each) => each > 0)
  const parents = await Promise.all(all.map(async (each) => [each, await parentOf(each)] as const))
  const own = parents.filter(([, parent]) => parent === pid).map(([each]) => each)
  return [...own, ...(await Promise.all(own.map(startedBy))).flat()]
}

async function parentOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}
