import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { differences, generatedFiles, writeGenerated } from '../../../scripts/generated-files.ts'
import { sampleKind } from '../../builders/sample-kind.ts'

const kinds = [{ definition: sampleKind }]
const clean = { stale: [], missing: [], extra: [] }
const crds = ['crds/culvert.dev_samples.yaml', 'charts/culvert/files/crds/culvert.dev_samples.yaml']
const all = [...crds, 'docs/kinds/samples.md', 'docs/kinds/README.md']
let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'culvert-generate-'))
})

afterEach(() => rm(root, { recursive: true }))

test('an empty project lacks every file, and a generated one differs in nothing', async () => {
  const files = await generatedFiles(kinds, root)
  expect(await differences(files, root)).toEqual({ ...clean, missing: all })
  await writeGenerated(files, root)
  expect(await differences(files, root)).toEqual(clean)
})

test('a file edited by hand is stale and is written anew', async () => {
  const files = await generatedFiles(kinds, root)
  await writeGenerated(files, root)
  await writeFile(join(root, 'docs/kinds/samples.md'), 'edited')
  expect(await differences(files, root)).toEqual({ ...clean, stale: ['docs/kinds/samples.md'] })
  await writeGenerated(files, root)
  expect(await readFile(join(root, 'docs/kinds/samples.md'), 'utf8')).toBe(files.get('docs/kinds/samples.md'))
})

test('files of a kind that is gone are extra, and are removed', async () => {
  await writeGenerated(await generatedFiles(kinds, root), root)
  const files = await generatedFiles([], root)
  expect((await differences(files, root)).extra).toEqual([
    'crds/culvert.dev_samples.yaml',
    'docs/kinds/samples.md',
    'charts/culvert/files/crds/culvert.dev_samples.yaml',
  ])
  expect((await writeGenerated(files, root)).extra).toEqual([])
  expect(await differences(files, root)).toEqual(clean)
})

test('a file without the mark of the generator is reported and left alone', async () => {
  const files = await generatedFiles(kinds, root)
  await writeGenerated(files, root)
  await writeFile(join(root, 'crds/mine.yaml'), 'a: b')
  expect((await writeGenerated(files, root)).extra).toEqual(['crds/mine.yaml'])
  expect(await readFile(join(root, 'crds/mine.yaml'), 'utf8')).toBe('a: b')
})

test('the example of a kind comes from examples/kinds', async () => {
  await mkdir(join(root, 'examples/kinds'), { recursive: true })
  await writeFile(join(root, 'examples/kinds/samples.yaml'), 'kind: Sample # from the file\n')
  const files = await generatedFiles(kinds, root)
  expect(files.get('docs/kinds/samples.md')).toContain('kind: Sample # from the file')
})
