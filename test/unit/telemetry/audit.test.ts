import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { auditRecord, openAuditLog } from '../../../src/telemetry/audit.ts'
import { createLogger, Rarely } from '../../../src/util/logger.ts'
import { FakeClock } from '../../builders/fake-clock.ts'
import { createSilentLogger } from '../../builders/silent-logger.ts'
import { writeReport } from '../../builders/write-report.ts'

const report = writeReport()

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'culvert-audit-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('a record is one line of JSON with a mark, added to what the file holds, and says nothing of what is not known', () => {
  const destination = join(folder(), 'audit.log')
  const shared = { destination, clock: new FakeClock(), logger: createSilentLogger() }
  const at = new Date(shared.clock.now()).toISOString()
  for (let life = 1; life <= 2; life++) {
    const log = openAuditLog(shared)
    log.record('Account/shop/default', report)
    log.close()
  }
  const lines = readFileSync(destination, 'utf8').trimEnd().split('\n')
  expect(lines).toHaveLength(2)
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    audit: true,
    level: 30,
    time: at,
    msg: 'PATCH ip_policies done',
    resource: { kind: 'IPPolicy', namespace: 'shop', name: 'office', uid: 'u-1' },
    reason: 'drift',
    account: 'Account/shop/default',
    method: 'PATCH',
    collection: 'ip_policies',
    objectId: 'ipp_1',
    fields: ['description'],
    outcome: 'done',
    status: 200,
    operationId: 'op_1',
    durationMs: 12,
  })
})

test('a record has the envelope of a log line, so that one stream can hold both', () => {
  const lines: string[] = []
  createLogger('info', { write: (line) => lines.push(line) }).info({}, 'reconciling')
  const logged = JSON.parse(lines[0] ?? '')
  const record = auditRecord('Account/shop/default', report, Date.parse(logged.time))
  expect(record).toMatchObject({ level: logged.level, time: logged.time, msg: expect.any(String) })
  expect(Object.keys(logged).filter((key) => !Object.hasOwn(record, key))).toEqual([])
  expect(auditRecord('Account/shop/default', { ...report, outcome: 'unknown' }, 0).level).toBe(40)
})

test('a file that cannot be opened is an error at once; nothing is opened for `off`', () => {
  const shared = { clock: new FakeClock(), logger: createSilentLogger() }
  expect(() => openAuditLog({ ...shared, destination: folder() })).toThrow('EISDIR')
  const log = openAuditLog({ ...shared, destination: 'off' })
  log.record('Account/shop/default', report)
  log.close()
})

test('a disk that is full stops nobody: each failure is counted, and told of now and then', () => {
  const clock = new FakeClock()
  const told: unknown[] = []
  const logger = { ...createSilentLogger(), error: (fields: unknown) => void told.push(fields) }
  let failures = 0
  const log = openAuditLog({ destination: '/dev/full', clock, logger, onFailure: () => failures++ })
  for (let number = 0; number < 3; number++) log.record('Account/shop/default', report)
  log.close()
  expect(failures).toBe(3)
  expect(told).toMatchObject([{ times: 1, err: { code: 'ENOSPC' } }])
})

test('what happens all the time is reported at once, and then every five minutes with how often it was', async () => {
  const clock = new FakeClock()
  const told: unknown[] = []
  const rarely = new Rarely(clock, (last, times) => void told.push([last, times]))
  rarely.happened('a')
  rarely.happened('b')
  await clock.advance(299_000)
  rarely.happened('c')
  expect(told).toEqual([['a', 1]])
  await clock.advance(1_000)
  rarely.happened('d')
  expect(told).toEqual([
    ['a', 1],
    ['d', 3],
  ])
})
