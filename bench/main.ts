import { run as runPaging } from './emulator-paging.ts'
import { run as runScale } from './emulator-scale.ts'
import { printSteps, run as runNewcomer } from './newcomer.ts'
import { run as runOperator } from './operator.ts'
import { run as runSessions } from './sessions.ts'

/** Runs every benchmark in sequence, and prints each result beside its target; last, the steps of a new user. */
interface Row {
  readonly bench: string
  readonly measured: string
  readonly floor: string
  readonly ratio: string
  readonly costs: string
}

async function pagingRow(): Promise<Row> {
  const { smallMs, largeFirstMs, largeMiddleMs, ratio } = await runPaging()
  const slower = Math.max(largeFirstMs, largeMiddleMs)
  return {
    bench: 'emulator: a list page of 100,000 objects, of 100',
    measured: `${slower.toFixed(2)} ms`,
    floor: `${smallMs.toFixed(2)} ms`,
    ratio: ratio.toFixed(2),
    costs: '',
  }
}

async function scaleRow(): Promise<Row> {
  const { objects, startSeconds, emptyStartSeconds, residentMiB, seededMiB, fileMiB, seedSeconds } = await runScale()
  return {
    bench: `emulator: start on ${objects} objects in a file, on none`,
    measured: `${startSeconds.toFixed(2)} s`,
    floor: `${emptyStartSeconds.toFixed(2)} s`,
    ratio: (startSeconds / emptyStartSeconds).toFixed(2),
    costs:
      `${residentMiB.toFixed(0)} MiB resident (${seededMiB.toFixed(0)} after the seed of ${seedSeconds.toFixed(0)} s), ` +
      `${fileMiB.toFixed(0)} MiB of file`,
  }
}

async function operatorRows(): Promise<readonly Row[]> {
  return (await runOperator()).map(({ kind, count, seconds, callsEach, writesEach, floorSeconds, ratio }) => ({
    bench: `operator: ${count} × ${kind} Ready, as many plain patches`,
    measured: `${seconds.toFixed(1)} s`,
    floor: `${floorSeconds.toFixed(1)} s`,
    ratio: ratio.toFixed(2),
    costs: `${callsEach.toFixed(2)} API calls, ${writesEach.toFixed(2)} Kubernetes writes each`,
  }))
}

async function sessionsRow(): Promise<Row> {
  const { count, seconds, floorSeconds, callsFirst, writesFirst, callsNext, writesNext, readySeconds } =
    await runSessions()
  return {
    bench: `operator: ${count} sessions mirrored, as many plain patches`,
    measured: `${seconds.toFixed(1)} s`,
    floor: `${floorSeconds.toFixed(1)} s`,
    ratio: (seconds / floorSeconds).toFixed(2),
    costs:
      `${callsFirst} API calls, ${writesFirst} Kubernetes writes; a tenth replaced: ${callsNext} and ${writesNext}; ` +
      `a policy meanwhile Ready after ${readySeconds.toFixed(1)} s`,
  }
}

console.table([await pagingRow(), await scaleRow(), ...(await operatorRows()), await sessionsRow()])
printSteps(await runNewcomer())
