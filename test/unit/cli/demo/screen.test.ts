import { describe, expect, test } from 'vitest'
import { createScreen, type Row } from '../../../../src/cli/demo/state-table.ts'
import { terminalOf } from '../../../../src/cli/terminal/terminal.ts'
import { CapturedText } from '../../../builders/captured-text.ts'

const waiting: Row = { kind: 'Backend', name: 'shop', id: '', state: 'Waiting', message: '', ready: false }
const done: Row = { ...waiting, id: 'bkdtg_1', state: 'Available', message: 'in place', ready: true }

const screenOf = (output: CapturedText, count: number) => createScreen(terminalOf(output), count)

describe('without a terminal', () => {
  test('prints a line with the time for each change, and nothing twice', () => {
    const output = new CapturedText()
    const screen = screenOf(output, 1)
    screen.show([waiting], 10)
    screen.show([done], 1_260)
    screen.show([done], 2_000)
    expect(String(output)).toBe('  1.3 s  Backend/shop  bkdtg_1  Available  in place\n')
  })

  test('tells resources of one name in two namespaces apart', () => {
    const output = new CapturedText()
    const screen = screenOf(output, 2)
    for (const time of [0, 1_000]) screen.show([done, { ...done, id: 'bkdtg_2' }], time)
    expect(String(output).split('\n')).toHaveLength(3)
  })

  test('tells that a resource which had a state has none any more', () => {
    const output = new CapturedText()
    const screen = screenOf(output, 1)
    screen.show([done], 0)
    screen.show([waiting], 1_000)
    expect(String(output)).toContain('  1.0 s  Backend/shop  Waiting\n')
  })
})

describe('on a terminal', () => {
  test('draws the table again over itself', () => {
    const output = new CapturedText({ isTTY: true, columns: 100 })
    const screen = screenOf(output, 1)
    screen.show([waiting], 0)
    expect(String(output)).not.toContain('\u001b[2A')
    screen.show([done], 100)
    expect(String(output).split('\u001b[2A')).toHaveLength(2)
    expect(String(output).split('\u001b[2A')[1]).toContain('bkdtg_1')
  })

  test('prints lines where the table is higher than the terminal', () => {
    const output = new CapturedText({ isTTY: true, columns: 100, rows: 10 })
    screenOf(output, 9).show([done], 0)
    expect(String(output)).toBe('  0.0 s  Backend/shop  bkdtg_1  Available  in place\n')
  })
})
