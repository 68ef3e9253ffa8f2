import { readFileSync } from 'node:fs'

/** The project's own copy of the contract as text, to compare the facts with it. */
export const contract = readFileSync(new URL('../../../docs/management-api.md', import.meta.url), 'utf8')

/** The decisions where the contract leaves something open. */
export const decisions = readFileSync(new URL('../../../docs/api-decisions.md', import.meta.url), 'utf8')

/** One line of the contract's endpoints table. */
export interface EndpointRow {
  readonly path: string
  readonly listKey: string
  readonly create: readonly string[]
  readonly update: readonly string[]
}

const nameAtStart = /^`?([a-z_]+)`?$/

/** The rows of the first table under a header line. Throws if the document has no such table. */
export function tableUnder(text: string, header: string): readonly (readonly string[])[] {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => line.startsWith(header))
  if (start === -1) throw new Error(`no table with the header ${header}`)
  const rows: string[][] = []
  for (const line of lines.slice(start + 2)) {
    if (!line.startsWith('|')) break
    rows.push(
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
  }
  return rows
}

/** The words of a comma-separated cell, without parentheses' content and the names of alternatives at its end. */
export function names(cell: string): readonly string[] {
  return cell
    .replace(/\. Alternatives: \[.*$/, '')
    .replace(/\([^)]*\)/g, '')
    .split(',')
    .map((word) => word.trim())
    .map((word) => {
      const name = nameAtStart.exec(word)?.[1]
      if (name === undefined) throw new Error(`not a field name: ${word}`)
      return name
    })
}

/** The names in backticks of the line with this start, without parentheses' content. */
export function namesInLine(start: string): readonly string[] {
  const line = contract.split('\n').find((candidate) => candidate.startsWith(start))
  if (line === undefined) throw new Error(`no line starts with ${start}`)
  return [...line.replace(/\([^)]*\)/g, '').matchAll(/`([a-z_]+)`/g)].map((match) => match[1] ?? '')
}

/** The names in the first column of the first table after the text. */
export function namesInTableAfter(marker: string): readonly string[] {
  const at = contract.indexOf(`\n${marker}`)
  if (at === -1) throw new Error(`no ${marker}`)
  return tableUnder(contract.slice(at), '| field |').flatMap((row) => [...names(row[0] ?? '')])
}

/** The decision's row for the update body of a collection whose cell in the contract says "see gap list". */
function decidedUpdate(path: string): readonly string[] {
  const row = tableUnder(decisions.slice(decisions.indexOf('## Behaviour')), '| open point').find(
    (cells) => cells[0] === `\`${path}\` update`,
  )
  if (row?.[1] === undefined) throw new Error(`no decision about the update of ${path}`)
  // The part after a semicolon is about an immutable field.
  return names(row[1].replace(/\([^)]*\)/g, '').split(';')[0] ?? '')
}

/** The contract's endpoints table, with its gaps filled from the decisions. */
export function endpointRows(): readonly EndpointRow[] {
  return tableUnder(contract, '| collection `<c>` |').map((cells) => {
    const [path = '', listKey = '', create = '', update = ''] = cells
    const created = names(create)
    if (update.startsWith('same fields as create')) return { path, listKey, create: created, update: created }
    return { path, listKey, create: created, update: update === 'see gap list' ? decidedUpdate(path) : names(update) }
  })
}
