import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type BuildInput, readModule, sourceHash } from '../../../controlplane/source-hash.ts'

const input: BuildInput = {
  files: [
    { path: 'go.mod', content: 'module a' },
    { path: 'main.go', content: 'package main' },
  ],
  target: 'linux/x64',
  flags: ['-trimpath'],
}

it('names a build alike in whatever order its files are found', () => {
  const files = fc.uniqueArray(fc.record({ path: fc.string(), content: fc.string() }), {
    selector: (file) => file.path,
  })
  const shuffled = files.chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length })),
  )
  fc.assert(
    fc.property(shuffled, ([a, b]) => sourceHash({ ...input, files: a }) === sourceHash({ ...input, files: b })),
  )
})

it.each<[string, Partial<BuildInput>]>([
  ['a file', { files: [{ path: 'go.mod', content: 'module b' }] }],
  ['the machine', { target: 'darwin/arm64' }],
  ['a flag', { flags: ['-trimpath', '-race'] }],
])('names a build otherwise when %s differs', (_name, change) => {
  expect(sourceHash({ ...input, ...change })).not.toBe(sourceHash(input))
})

it('does not take text that moves from one file to the next for the same', () => {
  const hashOf = (first: string, second: string): string =>
    sourceHash({
      ...input,
      files: [
        { path: 'a', content: first },
        { path: 'b', content: second },
      ],
    })
  expect(hashOf('xy', 'z')).not.toBe(hashOf('x', 'yz'))
})

it('reads what goes into the programs and nothing else', async () => {
  const parts = ['go.mod', 'go.sum', 'older.mod', 'older.sum', 'main.go', 'watchdog/main.go']
  const folder = await mkdtemp(join(tmpdir(), 'culvert-test-'))
  try {
    await mkdir(join(folder, 'watchdog'))
    for (const name of [...parts, 'watchdog/main_test.go', 'build.ts']) {
      await writeFile(join(folder, name), name)
    }
    const files = await readModule(folder)
    expect(new Set(files.map((file) => file.path))).toEqual(new Set(parts))
    expect(files).toHaveLength(parts.length)
  } finally {
    await rm(folder, { recursive: true })
  }
})
