import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle } from '../../../scripts/bundle.ts'

const run = promisify(execFile)

/** Prints the names of Node's own modules that were loaded, when the process ends. */
const TELL = "process.on('exit', () => console.error(JSON.stringify(process.moduleLoadList)))"

let folder: string
let program: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'culvert-bundle-'))
  program = await bundle(folder)
})

afterAll(() => rm(folder, { recursive: true }))

test('an operator loads neither HTTP/2 nor Node’s own copy of undici', async () => {
  const preload = `data:text/javascript,${encodeURIComponent(TELL)}`
  const { stdout, stderr } = await run(process.execPath, ['--import', preload, program, 'operator', '--help'])
  expect(stdout).toContain('--account-selector')
  const loaded = JSON.parse(stderr) as readonly string[]
  expect(loaded).toContain('NativeModule http')
  expect(loaded.filter((name) => /undici|http2/.test(name))).toEqual([])
})

test('the sources have characters of one byte only, since V8 would keep them in two bytes each', async () => {
  const sources = (await readdir(join(folder, 'dist'))).filter((name) => name.endsWith('.js'))
  expect(sources).not.toEqual([])
  for (const name of sources) {
    const text = await readFile(join(folder, 'dist', name), 'utf8')
    expect(text.match(/[^\0-\xff]/g) ?? [], name).toEqual([])
  }
})
