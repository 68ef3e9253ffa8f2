import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Plan } from '../../../../src/cli/plan/make-plan.ts'
import { planMarkdown } from '../../../../src/cli/plan/render-plan.ts'

function planWith(text: string): Plan {
  const resource = { kind: 'Backend', namespace: 'shop', name: text }
  return {
    operations: [
      {
        action: 'create',
        resource,
        collection: 'backends/tunnel_group',
        id: text,
        reason: 'spec',
        isTemporary: false,
        changes: [{ path: `labels.${text}`, old: text, new: { [text]: text }, isSecret: false }],
        marks: [{ type: 'opened', text }],
      },
    ],
    unplanned: [{ resource, reason: 'Rejected', message: text, isWaiting: false }],
    composed: [],
    elsewhere: [],
    unrecognised: [],
    unnamed: [],
    isUnsalted: false,
  }
}

/** What is left of a line without its code spans, as CommonMark reads them: each ends at the next run of its length. */
function outsideOfCode(line: string): string {
  const found = /(?<!`)(`+)(?!`)/.exec(line)
  if (found === null) return line
  const fence = found[1] ?? ''
  const begin = found.index + fence.length
  const rest = line.slice(begin)
  const end = new RegExp(`(?<!\`)${fence}(?!\`)`).exec(rest)
  if (end === null) return line
  return `${line.slice(0, found.index)}CODE${outsideOfCode(rest.slice(end.index + fence.length))}`
}

const SHAPE = `**Plan: 1 to create, 0 to update, 0 to delete. Look at 1 of them first: they are marked with "!".**

> [!WARNING]
> - CODE: CODE

| | request | for | changes |
|---|---|---|---|
| 1 | ⚠ create CODE | CODE | CODE |

Not carried out, or not yet:

- CODE: Rejected: CODE
`

const shapeOf = (text: string): string => planMarkdown(planWith(text)).split('\n').map(outsideOfCode).join('\n')

test.each([
  'x\n\n# Approved by security\n\n',
  '`',
  '``` | `',
  '\\',
  '\\|',
  '|',
  '` | ok |\n',
  '@security-team',
  'https://evil.example',
  '<img src=x onerror=alert(1)>',
  '<!--',
  '\u001b[2J',
  '\u202e',
])('%j leaves no trace outside of code spans', (text) => {
  expect(shapeOf(text)).toBe(SHAPE)
})

test('whatever the text, nothing of it is outside of code spans, and no cell ends early', () => {
  const text = fc.array(fc.constantFrom('`', '|', '\\', '\n', ' ', '#', '<', 'a', '"', '\r', '\u2028'), {
    minLength: 1,
  })
  fc.assert(
    fc.property(text, (parts) => {
      fc.pre(parts.join('').trim() !== '')
      expect(shapeOf(parts.join(''))).toBe(SHAPE)
      const row = planMarkdown(planWith(parts.join(''))).split('\n')[6] ?? ''
      expect(row.split('|')).toHaveLength(6)
    }),
  )
})
