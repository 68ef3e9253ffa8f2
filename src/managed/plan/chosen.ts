import { digestOf, equalJSON } from '../../util/json.ts'

/**
 * Whether the service kept everything that was sent and filled in only what was left open: members that were null or
 * absent, at any depth, also in the entries of a list. It never adds entries to lists, or changes scalars.
 */
export function isChosen(sent: unknown, found: unknown): boolean {
  if (Array.isArray(sent) && Array.isArray(found)) {
    return sent.length === found.length && sent.every((entry, index) => isChosen(entry, found[index]))
  }
  if (!isMembers(sent) || !isMembers(found)) return equalJSON(sent, found)
  return Object.entries(sent).every(([name, value]) => isOpen(value) || isChosen(value, found[name]))
}

/** Identifies a choice by what was sent and what the service made of it. */
export function digestOfChoice(sent: unknown, found: unknown): string {
  return digestOf([inOrder(sent), inOrder(found)], 16)
}

function isOpen(value: unknown): boolean {
  return value === undefined || value === null
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (!isMembers(value)) return value
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, member]) => [name, inOrder(member)])
}

type Members = Readonly<Record<string, unknown>>

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
