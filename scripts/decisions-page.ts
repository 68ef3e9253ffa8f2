import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CHOICES, type ChoiceEntry } from '../src/emulator/choices/table.ts'

export const DECISIONS_PAGE = join('docs', 'api-decisions.md')

/** The page is generated from this heading on. */
const HEADING = '## Alternatives of the contrary emulator'

const INTRODUCTION = [
  'This section is generated from `src/emulator/choices/table.ts` by `npm run generate`. A server that takes any of these choices keeps the contract, and the operator',
  'works with it: at rest, silent, with one object for each resource. `culvert emulator --choose NAME=VALUE` takes one of them, `--contrary [SEED]` another than the decided',
  'one everywhere.',
].join('\n')

/**
 * The page of decisions with its last section regenerated from the table of choices.
 * @throws Error if the page has no such section
 */
export async function decisionsPage(root: string): Promise<string> {
  const page = await readFile(join(root, DECISIONS_PAGE), 'utf8')
  const at = page.indexOf(`\n${HEADING}\n`)
  if (at < 0) throw new Error(`${DECISIONS_PAGE} has no section ${HEADING}`)
  const rows = Object.entries<ChoiceEntry>(CHOICES).map(([name, entry]) => rowOf(name, entry))
  const table = ['| `--choose` | open point | decided | alternatives |', '|---|---|---|---|', ...rows]
  return `${page.slice(0, at)}\n${HEADING}\n${INTRODUCTION}\n\n${table.join('\n')}\n`
}

function rowOf(name: string, { point, decided, values }: ChoiceEntry): string {
  const value = (each: string): string => `\`${each}\`: ${values[each]}`
  const others = Object.keys(values).filter((each) => each !== decided)
  return `| \`${name}\` | ${point} | ${value(decided)} | ${others.map(value).join('; ')} |`
}
