import { describe, expect, test } from 'vitest'
import type { Row } from '../../../../src/cli/demo/rows.ts'
import { createScreen } from '../../../../src/cli/demo/screen.ts'

const waiting: Row = { kind: 'Backend', name: 'shop', id: '', state: 'Waiting', message: '', ready: false }
const done: Row = { ...waiting, id: 'bkdtg_1', state: 'Available', message: 'in place', ready: true }

class Recorder {
  readonly isTTY: boolean
  readonly columns = 100
  readonly rows: number
  text = ''

  constructor(isTTY: boolean, rows = 24) {
    this.isTTY = isTTY
    this.rows = rows
  }

  write(text: string): void {
    this.text += text
  }
}

describe('without a terminal', () => {
  test('prints a line with the time for each change, and nothing twice', () => {
    const output = new Recorder(false)
    const screen = createScreen(output, 1)
    screen.show([waiting], 10)
    screen.show([done], 1_260)
    screen.show([done], 2_000)
    expect(output.text).toBe('  1.3 s  Backend/shop  bkdtg_1  Available  in place\n')
  })

  test('tells resources of one name in two namespaces apart', () => {
    const output = new Recorder(false)
    const screen = createScreen(output, 2)
    for (const time of [0, 1_000]) screen.show([done, { ...done, id: 'bkdtg_2' }], time)
    expect(output.text.split('\n')).toHaveLength(3)
  })

  test('tells that a resource which had a state has none any more', () => {
    const output = new Recorder(false)
    const screen = createScreen(output, 1)
    screen.show([done], 0)
    screen.show([waiting], 1_000)
    expect(output.text).toContain('  1.0 s  Backend/shop  Waiting\n')
  })
})

describe('on a terminal', () => {
  test('draws the table again over itself', () => {
    const output = new Recorder(true)
    const screen = createScreen(output, 1)
    screen.show([waiting], 0)
    expect(output.text).not.toContain('\u001b[2A')
    screen.show([done], 100)
    expect(output.text.split('\u001b[2A')).toHaveLength(2)
    expect(output.text.split('\u001b[2A')[1]).toContain('bkdtg_1')
  })

  test('prints lines where the table is higher than the terminal', () => {
    const output = new Recorder(true, 10)
    createScreen(output, 9).show([done], 0)
    expect(output.text).toBe('  0.0 s  Backend/shop  bkdtg_1  Available  in place\n')
  })
})
