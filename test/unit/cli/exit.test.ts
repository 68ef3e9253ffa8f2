import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundle } from '../../../scripts/bundle.ts'

const EXIT = fileURLToPath(new URL('../../../src/cli/exit.ts', import.meta.url))
const TERMINAL = fileURLToPath(new URL('../../../src/cli/terminal/terminal.ts', import.meta.url))
/** Port 9 of the loopback address: nobody listens there. */
const KUBECONFIG = {
  clusters: [{ name: 'none', cluster: { server: 'https://127.0.0.1:9' } }],
  users: [{ name: 'none', user: {} }],
  contexts: [{ name: 'none', context: { cluster: 'none', user: 'none' } }],
  'current-context': 'none',
}

let folder: string
/** The command as one program: its sources take seconds to load while threads are in the way. */
let program: string
/** Names a cluster that does not answer. */
let kubeconfig: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'culvert-exit-'))
  program = await bundle(folder)
  kubeconfig = join(folder, 'kubeconfig')
  await writeFile(kubeconfig, JSON.stringify(KUBECONFIG))
})

afterAll(() => rm(folder, { recursive: true }))

describe('while V8’s threads ask the main thread for garbage collections, as they do now and then', () => {
  const asking = '--stress-concurrent-allocation'
  /** Several: `process.exit`, which waits for these threads and does not serve them, would return most of the time. */
  const runs = [[1], [2, 'nightly'], [3, 'nightly'], [4, 'nightly']] as const

  for (const [run, ...tags] of runs) {
    test(`help ends the process (${run})`, { tags }, async () => {
      expect(await endOf([asking, program, 'operator', '--help'])).toBe(0)
    })

    test(`a signal ends an operator with code 0 (${run})`, { tags }, async () => {
      const args = ['operator', '--kubeconfig', kubeconfig, '--listen', '127.0.0.1:0']
      expect(await endOf([asking, program, ...args], 'serving health and metrics', 'SIGTERM')).toBe(0)
    })
  }

  test('a wrong flag ends it with code 1', async () => {
    expect(await endOf([asking, program, 'sessions', 'restart', '--nonsense'])).toBe(1)
  })
})

test('a command whose reader is gone ends by SIGPIPE, as others do', async () => {
  const source = `const { endWithReader } = await import(${JSON.stringify(TERMINAL)})
    endWithReader(process.stdout)
    setInterval(() => process.stdout.write('line\\n'), 1)`
  expect(await endOf(['--input-type=module', '-e', source], 'line', 'close')).toBe('SIGPIPE')
})

test('a command that nobody reads from the start ends by SIGPIPE too, while it prints its help', async () => {
  const child = spawn(process.execPath, [program, 'doctor', '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  const errors = text(child.stderr)
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  expect({ code, signal, errors: await errors }).toEqual({ code: null, signal: 'SIGPIPE', errors: '' })
})

test('what still holds a process that has to end is given up', async () => {
  const source = `const { endWith } = await import(${JSON.stringify(EXIT)})
    setInterval(() => {}, 1_000)
    endWith(3)`
  expect(await endOf(['--input-type=module', '-e', source])).toBe(3)
})

/**
 * Runs Node, stops it by a signal, or closes its output, once it has printed `printed`.
 * @returns its exit code, or the signal that ended it.
 */
async function endOf(args: readonly string[], printed?: string, stop?: 'SIGTERM' | 'close'): Promise<unknown> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const exit = once(child, 'exit')
  let output = ''
  let awaited = printed
  const read = (text: string): void => {
    output += text
    if (awaited === undefined || !output.includes(awaited)) return
    // A second signal would end it at once.
    awaited = undefined
    if (stop === 'close') child.stdout.destroy()
    else child.kill(stop)
  }
  child.stdout.setEncoding('utf8').on('data', read)
  child.stderr.setEncoding('utf8').on('data', read)
  const [code, signal] = await exit
  return code ?? signal
}
