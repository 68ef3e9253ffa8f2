import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { acquireBuildLock, isAlive } from '../../../controlplane/build-lock.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'culvert-test-'))
  path = join(folder, 'build.lock')
})
afterEach(() => rm(folder, { recursive: true }))

async function deadProcess(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await once(child, 'exit')
  return child.pid ?? 0
}

it('is held by one at a time', async () => {
  const first = await acquireBuildLock(path)
  const holders: number[] = []
  let acquired = false
  const second = acquireBuildLock(path, { onWait: (holder) => holders.push(holder), pollMilliseconds: 5 }).then(
    (lock) => {
      acquired = true
      return lock
    },
  )
  await vi.waitFor(() => expect(holders).toEqual([process.pid]))
  expect(acquired).toBe(false)
  await first.release()
  await (await second).release()
  expect(await readdir(folder)).toEqual([])
})

it('is no longer waited for after an abort', async () => {
  await using _first = await acquireBuildLock(path)
  const stop = new AbortController()
  const second = acquireBuildLock(path, { onWait: () => stop.abort(), signal: stop.signal })
  await expect(second).rejects.toMatchObject({ name: 'AbortError' })
})

it('is taken over from a process that died', async () => {
  await writeFile(path, String(await deadProcess()))
  await using _lock = await acquireBuildLock(path)
  expect(await readFile(path, 'utf8')).toBe(String(process.pid))
})

it('is taken over when it names no process', async () => {
  await writeFile(path, '')
  await using _lock = await acquireBuildLock(path)
  expect(await readFile(path, 'utf8')).toBe(String(process.pid))
})

it('knows which processes are alive', async () => {
  expect(isAlive(process.pid)).toBe(true)
  expect(isAlive(await deadProcess())).toBe(false)
  expect(isAlive(0)).toBe(false)
  expect(isAlive(Number.NaN)).toBe(false)
})
