import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { layers } from './lints/layer-order.ts'
import { figuresOf, readRoot } from './lints/layers.ts'

const PROJECT = join(import.meta.dirname, '..')
const SHORT = 40

/** `npm run figures`: the size of the source, and how its folders depend on each other, as a Markdown table. */
async function main(): Promise<void> {
  const rows: (readonly [string, string | number])[] = []
  for (const { root } of layers) {
    const { files, imports } = await readRoot(join(PROJECT, root))
    const { folders, inCycles, mutual, imports: count, largest } = figuresOf(files, imports)
    rows.push([`folders of \`${root}\`, and those in import cycles`, `${folders}, ${inCycles}`])
    rows.push([`pairs of them that import each other, and all imports between them`, `${mutual}, ${count}`])
    rows.push([`the largest of them`, largest])
  }
  const { files } = await readRoot(join(PROJECT, 'src'))
  const lengths = await Promise.all(files.map((file) => linesOf(join(PROJECT, 'src', file))))
  rows.push(['lines of `src`', sum(lengths)])
  rows.push([`files of \`src\`, and those of less than ${SHORT} lines`, `${files.length}, ${shortOnes(lengths)}`])
  rows.push(['file names that occur in `src` three times or more', repeated(files).join(', ') || 'none'])
  const tests = (await readRoot(join(PROJECT, 'test'))).files
  rows.push(['lines of `test`', sum(await Promise.all(tests.map((file) => linesOf(join(PROJECT, 'test', file)))))])
  console.log(['| | |', '|---|---|', ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join('\n'))
}

async function linesOf(path: string): Promise<number> {
  return (await readFile(path, 'utf8')).split('\n').length - 1
}

function sum(lengths: readonly number[]): number {
  return lengths.reduce((one, other) => one + other, 0)
}

function shortOnes(lengths: readonly number[]): number {
  return lengths.filter((length) => length < SHORT).length
}

function repeated(files: readonly string[]): readonly string[] {
  const counts = Map.groupBy(files, (file) => basename(file))
  return [...counts].filter(([, all]) => all.length >= 3).map(([name, all]) => `${all.length} ${name}`)
}

await main()
