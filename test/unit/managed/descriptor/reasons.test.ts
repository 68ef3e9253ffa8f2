import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REASONS_PAGE, reasonsPage } from '../../../../scripts/reasons-page.ts'
import {
  conditionReasons,
  type Explanation,
  eventReasons,
  reasons,
} from '../../../../src/managed/descriptor/reasons.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..', '..')
const explained: Readonly<Record<string, Explanation>> = { ...conditionReasons, ...eventReasons }

/** Reasons as code writes them: `reason: 'Created'`, `event: 'Rotating'`. */
const LITERAL = /\b(?:reason|event): '(?<reason>[A-Z]\w*)'/g
/** Admission rules use the API server's reasons. */
const ELSEWHERE = /\/permissions\//

const written = globSync(['src/managed/**/*.ts', 'src/kinds/**/*.ts'], { cwd: ROOT })
  .filter((path) => !ELSEWHERE.test(path))
  .flatMap((path) => [...readFileSync(join(ROOT, path), 'utf8').matchAll(LITERAL)])
  .map(({ groups }) => groups?.reason ?? '')
  .filter((reason) => !reason.startsWith('FieldValue'))

test('every reason says what it means and what to do, in sentences', () => {
  for (const [reason, { means, remedy }] of Object.entries(explained)) {
    expect(reason).toMatch(/^[A-Z][A-Za-z]+$/)
    for (const text of [means, remedy]) expect(text, reason).toMatch(/^[A-Z`].*\.$/)
  }
  expect(Object.keys(reasons)).toEqual(Object.values(reasons))
})

test('no reason is of conditions and of Events alone', () => {
  expect(Object.keys(eventReasons).filter((reason) => reason in conditionReasons)).toEqual([])
})

test('every reason that code writes out is explained, and every one of Events alone is written by code', () => {
  expect(written.filter((reason) => !(reason in explained))).toEqual([])
  expect(Object.keys(eventReasons).filter((reason) => !written.includes(reason))).toEqual([])
})

test('the page has a row for each, and is as it is generated', () => {
  const page = readFileSync(join(ROOT, REASONS_PAGE), 'utf8')
  expect(page).toBe(reasonsPage())
  for (const reason of Object.keys(explained)) expect(page).toContain(`| \`${reason}\` | `)
})
