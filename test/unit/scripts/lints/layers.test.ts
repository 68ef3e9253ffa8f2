import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { layers } from '../../../../scripts/lints/layer-order.ts'
import { figuresOf, findingsIn, type Import, importsIn } from '../../../../scripts/lints/layers.ts'

const tower = { root: 'src/tower', order: ['names.ts', 'cellar', 'attic'] }
const files = ['names.ts', 'cellar/coal.ts', 'attic/roof.ts', 'attic/boxes/box.ts']

function placesIn(imports: readonly Import[]): readonly string[] {
  return findingsIn(tower, files, imports).map(({ place }) => place)
}

test('an import that goes up is found, of a type too, and one that goes down is not', () => {
  const down = importsIn('attic/boxes/box.ts', "import { coal } from '../../cellar/coal.ts'\n")
  expect(down).toEqual([{ from: 'attic/boxes/box.ts', to: 'cellar/coal.ts' }])
  expect(placesIn(down)).toEqual([])
  for (const text of [
    "import { roof } from '../attic/roof.ts'\n",
    "import type { Roof } from '../attic/roof.ts'\n",
    "import {\n  roof,\n  type Roof,\n} from '../attic/roof.ts'\n",
    "const { roof } = await import('../attic/roof.ts')\n",
    "import '../attic/roof.ts'\n",
  ]) {
    expect(placesIn(importsIn('cellar/coal.ts', text))).toEqual(['src/tower/cellar/coal.ts'])
  }
  expect(placesIn(importsIn('names.ts', "import { coal } from './cellar/coal.ts'\n"))).toEqual(['src/tower/names.ts'])
})

test('inside a folder, and outside of the root, everything is allowed', () => {
  const text =
    "import { box } from './boxes/box.ts'\nimport { sky } from '../../sky/blue.ts'\nimport fs from 'node:fs'\n"
  expect(placesIn(importsIn('attic/roof.ts', text))).toEqual([])
})

test('a folder without a layer, and a layer without a folder, are found', () => {
  expect(findingsIn(tower, [...files, 'porch/door.ts'], []).map(({ place }) => place)).toEqual(['src/tower/porch'])
  expect(findingsIn(tower, files.slice(0, 2), []).map(({ place }) => place)).toEqual(['src/tower/attic'])
})

test('the figures count folders in cycles, however long, and pairs', () => {
  const of = (...pairs: readonly string[]) =>
    pairs.map((pair) => {
      const [from = '', to = ''] = pair.split(' ').map((folder) => `${folder}/file.ts`)
      return { from, to }
    })
  const folders = ['a', 'b', 'c', 'd'].map((folder) => `${folder}/file.ts`)
  expect(figuresOf([...folders, 'd/more.ts', 'top.ts'], of('a b', 'b c', 'c a', 'd a', 'a b'))).toEqual({
    folders: 4,
    inCycles: 3,
    mutual: 0,
    imports: 4,
    largest: 'd (2 files)',
  })
  expect(figuresOf(folders, of('a b', 'b a')).mutual).toBe(1)
})

test('docs/architecture.md draws the layers in the order of the linter', async () => {
  const page = await readFile(fileURLToPath(new URL('../../../../docs/architecture.md', import.meta.url)), 'utf8')
  for (const { root, order } of layers) {
    const drawing = new RegExp(`^Layers of \`${root}\`.*?\`\`\`\n(?<drawn>.*?)\`\`\``, 'ms').exec(page)?.groups?.drawn
    const drawn = (drawing ?? '').split('\n').flatMap((line) => line.replace(/ {2,}.*$/, '').split(' · '))
    expect(drawn.filter((name) => name !== '').toReversed()).toEqual(order.filter((name) => !name.endsWith('.ts')))
  }
})
