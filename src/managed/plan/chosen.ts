import { createHash } from 'node:crypto'
import { equalJSON } from '../../util/equal-json.ts'

/**
 * Whether the service has kept all that was sent, and filled in what that left open: members that were null or not there, at any depth.
 * Lists and single values are not filled in.
 */
export function isChosen(sent: unknown, found: unknown): boolean {
  if (!isMembers(sent) || !isMembers(found)) return equalJSON(sent, found)
  return Object.entries(sent).every(([name, value]) => isOpen(value) || isChosen(value, found[name]))
}

/** Names a choice: what was sent, and what the service has made of it. */
export function digestOfChoice(sent: unknown, found: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([inOrder(sent), inOrder(found)]))
    .digest('hex')
    .slice(0, 16)
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
