import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { auditRecord } from '../../../src/telemetry/audit.ts'
import { writeReasons } from '../../../src/telemetry/write-origin.ts'

const page = readFileSync(new URL('../../../docs/telemetry.md', import.meta.url), 'utf8')

function table(head: string): readonly string[] {
  const [, rest = ''] = page.split(`\n| ${head} |`)
  const [rows = ''] = rest.split('\n\n')
  return [...rows.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) => {
    return [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
  })
}

test('docs/telemetry.md lists every reason of an audit record, and no other', () => {
  expect(table('reason | meaning')).toEqual(Object.keys(writeReasons))
})

test('docs/telemetry.md explains every field of an audit record, and no other', () => {
  const record = auditRecord('Account/shop/default', { ...WRITE }, 0)
  const fields = Object.keys(record)
  expect(new Set(table('field | what it says'))).toEqual(new Set(fields))
})

const WRITE = {
  origin: undefined,
  method: 'POST',
  collection: 'ip_policies',
  objectId: undefined,
  command: undefined,
  fields: [],
  outcome: 'done',
  status: undefined,
  error: undefined,
  apiErrorCode: undefined,
  operationId: undefined,
  seconds: 0,
} as const
