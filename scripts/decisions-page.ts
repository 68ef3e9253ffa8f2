import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CHOICES, type ChoiceEntry } from '../src/emulator/choices/choice-table.ts'

export const DECISIONS_PAGE = join('docs', 'api-decisions.md')

/** The page is generated from this heading on. */
const HEADING = '## Alternatives of the contrary emulator'

const INTRODUCTION = [
  'This section is generated from `src/emulator/choices/choice-table.ts` by `npm run generate`. A server that takes any of these choices keeps the contract, and the operator',
  'works with it: at rest, silent, with one object for each resource. `culvert emulator --choose NAME=VALUE` takes one of them, `--contrary [SEED]` another than the decided',
  'one everywhere.',
].join('\n')

/** Begins what is generated at the end of a decision. */
const LEAD = 'Alternatives: '
const LINK = '(#alternatives-of-the-contrary-emulator)'

/**
 * The page of decisions with its last section, and the names of the alternatives at each decision, regenerated from the
 * table of choices.
 * @throws Error if the page has no such section, or not the row or section that a choice names
 */
export async function decisionsPage(root: string): Promise<string> {
  const page = await readFile(join(root, DECISIONS_PAGE), 'utf8')
  const at = page.indexOf(`\n${HEADING}\n`)
  if (at < 0) throw new Error(`${DECISIONS_PAGE} has no section ${HEADING}`)
  const rows = Object.entries<ChoiceEntry>(CHOICES).map(([name, entry]) => rowOf(name, entry))
  const table = ['| `--choose` | open point | decided | alternatives |', '|---|---|---|---|', ...rows]
  return `${withNames(page.slice(0, at))}\n${HEADING}\n${INTRODUCTION}\n\n${table.join('\n')}\n`
}

function rowOf(name: string, { point, decided, values }: ChoiceEntry): string {
  const value = (each: string): string => `\`${each}\`: ${values[each]}`
  const others = Object.keys(values).filter((each) => each !== decided)
  return `| \`${name}\` | ${point} | ${value(decided)} | ${others.map(value).join('; ')} |`
}

/**
 * The decisions, each with the names of its alternatives at its end: in its cell, or as the last line of its section.
 */
function withNames(page: string): string {
  const lines = page.split('\n').flatMap((line) => withoutNames(line) ?? [])
  const places = new Map<string, string[]>()
  for (const [name, { decidedIn }] of Object.entries<ChoiceEntry>(CHOICES)) {
    for (const place of decidedIn) places.set(place, [...(places.get(place) ?? []), `\`${name}\``])
  }
  for (const [place, names] of places) {
    const text = `${LEAD}[${names.join(', ')}]${LINK}`
    const at = lines.findIndex((line) => line === place || line.startsWith(`| ${place} |`))
    const line = lines[at]
    if (line === undefined) throw new Error(`${DECISIONS_PAGE} has no ${place}, which the table of choices names`)
    if (line === place) lines.splice(endOfSection(lines, at), 0, text)
    else lines[at] = line.replace(/\.? \|$/, `. ${text} |`)
  }
  return lines.join('\n')
}

/** A line without what was generated in it; undefined if that was all. */
function withoutNames(line: string): string | undefined {
  if (line.startsWith(LEAD)) return undefined
  return line.replace(/\. Alternatives: \[[^\]]*\]\(#[a-z-]+\) \|$/, ' |')
}

/** Where a line at the end of the section goes: behind its last line that is not empty. */
function endOfSection(lines: readonly string[], heading: number): number {
  const next = lines.findIndex((line, index) => index > heading && line.startsWith('## '))
  let end = next < 0 ? lines.length : next
  while (lines[end - 1] === '') end--
  return end
}
