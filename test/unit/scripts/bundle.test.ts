import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { bundle } from '../../../scripts/bundle.ts'

const run = promisify(execFile)

/** Prints the names of Node's own modules that were loaded, when the process ends. */
const TELL = "process.on('exit', () => console.error(JSON.stringify(process.moduleLoadList)))"

test('an operator loads neither HTTP/2 nor Node’s own copy of undici', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'culvert-bundle-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const program = await bundle(folder)
  const preload = `data:text/javascript,${encodeURIComponent(TELL)}`
  const { stdout, stderr } = await run(process.execPath, ['--import', preload, program, 'operator', '--help'])
  expect(stdout).toContain('--account-selector')
  const loaded = JSON.parse(stderr) as readonly string[]
  expect(loaded).toContain('NativeModule http')
  expect(loaded.filter((name) => /undici|http2/.test(name))).toEqual([])
})
