import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const source = (path: string): string => fileURLToPath(new URL(`../../../src/${path}`, import.meta.url))

/** Runs a script in a separate process, because warnings are per process. Returns its standard error, line by line. */
function linesOf(script: string): readonly string[] {
  const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  expect(status).toBe(0)
  return stderr.split('\n').filter((line) => line !== '')
}

test('what Node warns of stands in the JSON log, and nowhere else', () => {
  const lines = linesOf(`
    import { createLogger, logNodeWarnings } from ${JSON.stringify(source('util/logger.ts'))}
    logNodeWarnings(createLogger('info'))
    process.emitWarning('this is old', 'DeprecationWarning', 'DEP9999')
    setTimeout(() => {}, -5)
  `)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 40, code: 'DEP9999', msg: 'DeprecationWarning: this is old' },
    { level: 40, msg: expect.stringContaining('TimeoutNegativeWarning') },
  ])
})

test('a time that is over already sets a timer without a warning', () => {
  const lines = linesOf(`
    import { systemClock } from ${JSON.stringify(source('util/clock.ts'))}
    systemClock.setTimer(-5, () => console.error('fired'))
  `)
  expect(lines).toEqual(['fired'])
})
