import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { basename, dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { until } from '../cluster/support/wait.ts'
import { lookAtMachine, type NodeTraces, tracesOf } from './machine.ts'

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))

test('nothing of a node remains when the process that started it is killed', async () => {
  const before = await lookAtMachine()
  const main = spawn(process.execPath, [MAIN], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(main, 'exit')
  const ended = exited.then(() => {
    throw new Error('it ended before it was ready')
  })
  const id = await Promise.race([idOf(main.stdout), ended])
  expect((await tracesOf(id)).processes).not.toEqual([])
  main.kill('SIGKILL')
  await Promise.allSettled([exited, ended])
  await until('its traces are gone', async () => isEmpty(await tracesOf(id)), {
    timeoutMs: 60_000,
    describe: () => tracesOf(id),
  })
  expect(await lookAtMachine()).toEqual(before)
})

/** Reads it from the path of the logs in the output. */
async function idOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const [, folder] = /^Logs +(\S+)$/.exec(line) ?? []
    if (folder !== undefined) return basename(dirname(folder))
  }
  throw new Error('it did not say where its logs are')
}

function isEmpty({ cgroups, folders, processes }: NodeTraces): boolean {
  return cgroups.length + folders.length + processes.length === 0
}
