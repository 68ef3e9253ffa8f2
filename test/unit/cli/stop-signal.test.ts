import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const MODULE = JSON.stringify(fileURLToPath(new URL('../../../src/cli/exit.ts', import.meta.url)))

/** Runs a program that imports our module, sends it SIGTERM once it has printed, and returns exit code and signal. */
async function endOf(program: string): Promise<unknown> {
  const text = `const { endAtOnceAsFirstProcess } = await import(${MODULE}); ${program}; console.log(''); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  await once(child.stdout, 'data')
  child.kill('SIGTERM')
  return exit
}

test('process 1 ends itself on a signal that comes before a command listens', async () => {
  expect(await endOf("endAtOnceAsFirstProcess(['SIGTERM'], 1)")).toEqual([143, null])
})

test('any other process is ended by the signal, as Node does by itself', async () => {
  expect(await endOf("endAtOnceAsFirstProcess(['SIGTERM'])")).toEqual([null, 'SIGTERM'])
})

test('a command that listens takes the signal over', async () => {
  const takeOver = "endAtOnceAsFirstProcess(['SIGTERM'], 1)(); process.once('SIGTERM', () => process.exit(7))"
  expect(await endOf(takeOver)).toEqual([7, null])
})
