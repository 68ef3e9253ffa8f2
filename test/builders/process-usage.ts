import { readFile } from 'node:fs/promises'

/** Clock ticks in a second, as Linux reports CPU time on every architecture. */
const TICKS = 100

/** What a process has used so far. */
export interface Usage {
  readonly cpuSeconds: number
  readonly residentMiB: number
  /** The most that was resident at any time. */
  readonly peakMiB: number
}

/** Reads `/proc`, so Linux only. */
export async function usageOf(pid: number): Promise<Usage> {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/status`, 'utf8'),
  ])
  // The name of the program, in brackets, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const MiB = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS,
    residentMiB: MiB('VmRSS'),
    peakMiB: MiB('VmHWM'),
  }
}
