import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { type Layers, layers } from './layer-order.ts'
import type { Finding } from './lint.ts'

/** An import inside of a root, by paths from there. */
export interface Import {
  readonly from: string
  readonly to: string
}

/** Static and dynamic imports, of types too. */
const IMPORT = /\b(?:from|import|import\()\s*'(?<path>\.[^']+)'/g

/** The imports of one file that stay inside of the root; `file` is its path from there. */
export function importsIn(file: string, text: string): readonly Import[] {
  return [...text.matchAll(IMPORT)].flatMap(({ groups }) => {
    const to = join(dirname(file), groups?.path ?? '')
    return to.startsWith('..') ? [] : [{ from: file, to }]
  })
}

/** Imports that go up, and folders and files that have no layer or do not exist. */
export function findingsIn({ root, order }: Layers, files: readonly string[], imports: readonly Import[]): Finding[] {
  const there = new Set(files.map(layerOf))
  const unknown = [...there].filter((layer) => !order.includes(layer))
  const missing = order.filter((layer) => !there.has(layer))
  const up = imports.filter(({ from, to }) => order.indexOf(layerOf(to)) > order.indexOf(layerOf(from)))
  return [
    ...unknown.map((layer) => ({ place: `${root}/${layer}`, problem: `has no layer: add it to ${ORDER}` })),
    ...missing.map((layer) => ({ place: `${root}/${layer}`, problem: `does not exist: remove it from ${ORDER}` })),
    ...up.map(({ from, to }) => ({
      place: `${root}/${from}`,
      problem: `imports ${to}, and ${layerOf(to)} is above ${layerOf(from)}: move one of them, or hand in what is needed`,
    })),
  ]
}

const ORDER = 'scripts/lints/layer-order.ts'

/** The folder directly below the root, or the file itself if there is none. */
function layerOf(path: string): string {
  return path.split('/')[0] ?? path
}

/** How the folders of a root depend on each other. Files next to them belong to no folder. */
export interface Figures {
  readonly folders: number
  /** Folders that import each other, directly or through others. */
  readonly inCycles: number
  /** Pairs of folders that import each other directly. */
  readonly mutual: number
  /** Pairs of folders of which one imports the other, each direction counted. */
  readonly imports: number
  /** The folder with the most files, those of its own folders included. */
  readonly largest: string
}

/** Counts folders, and the imports between them. */
export function figuresOf(files: readonly string[], imports: readonly Import[]): Figures {
  const sizes = new Map<string, number>()
  for (const folder of files.filter(isInFolder).map(layerOf)) sizes.set(folder, (sizes.get(folder) ?? 0) + 1)
  const targets = new Map([...sizes.keys()].map((folder) => [folder, new Set<string>()]))
  for (const { from, to } of imports.filter(({ to: path }) => isInFolder(path))) {
    if (layerOf(from) !== layerOf(to)) targets.get(layerOf(from))?.add(layerOf(to))
  }
  const pairs = [...targets].flatMap(([from, all]) => [...all].map((to) => ({ from, to })))
  const [largest = ['', 0]] = [...sizes].toSorted(([, one], [, other]) => other - one)
  return {
    folders: sizes.size,
    inCycles: [...targets.keys()].filter((folder) => reachedFrom(folder, targets).has(folder)).length,
    mutual: pairs.filter(({ from, to }) => from < to && targets.get(to)?.has(from)).length,
    imports: pairs.length,
    largest: `${largest[0]} (${largest[1]} files)`,
  }
}

function isInFolder(path: string): boolean {
  return path.includes('/')
}

function reachedFrom(folder: string, targets: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>()
  const left = [...(targets.get(folder) ?? [])]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (reached.has(next)) continue
    reached.add(next)
    left.push(...(targets.get(next) ?? []))
  }
  return reached
}

/** The TypeScript files below a root, by paths from there, and their imports of each other. */
export async function readRoot(root: string): Promise<{ files: readonly string[]; imports: readonly Import[] }> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const files = paths.map((path) => relative(root, path)).filter((path) => path.endsWith('.ts'))
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')))
  return { files, imports: files.flatMap((file, index) => importsIn(file, texts[index] ?? '')) }
}

/** `npm run lint`: checks that no import goes up. */
async function main(): Promise<void> {
  for (const each of layers) {
    const { files, imports } = await readRoot(join(import.meta.dirname, '..', '..', each.root))
    const findings = findingsIn(each, files, imports)
    for (const { place, problem } of findings) console.error(`${place}: ${problem}`)
    if (findings.length > 0) process.exitCode = 1
  }
}

if (import.meta.main) await main()
