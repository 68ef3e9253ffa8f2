import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Row, rowLine, tableLines } from '../../../../src/cli/demo/state-table.ts'
import { lineText } from '../../../../src/cli/terminal/line.ts'

const edge: Row = {
  kind: 'Edge',
  name: 'shop',
  id: 'edgtls_3MPcK0VYwiLMaZ0tqduGz5zZBWp',
  state: 'Available',
  message: 'the edge has every module that its spec names',
  ready: true,
}
const policy: Row = { kind: 'IPPolicy', name: 'office', id: '', state: 'Waiting', message: '', ready: false }

describe('the table', () => {
  test('has aligned columns and a dash for an id that is not there yet', () => {
    expect(tableLines([edge, policy], 120).map((line) => lineText(line))).toEqual([
      'KIND      NAME    ID                                  STATE      MESSAGE',
      'Edge      shop    edgtls_3MPcK0VYwiLMaZ0tqduGz5zZBWp  Available  the edge has every module that its spec names',
      'IPPolicy  office  -                                   Waiting',
    ])
  })

  test('shows the state of what is Ready in green, of what is not in yellow', () => {
    const [, ready, waiting] = tableLines([edge, policy], 120)
    expect(ready).toContainEqual({ text: 'Available', style: 'green' })
    expect(waiting).toContainEqual({ text: 'Waiting', style: 'yellow' })
  })

  test('shortens ids on a narrow terminal, so that some of the message is seen', () => {
    const [, line] = tableLines([edge], 80).map((line) => lineText(line))
    expect(line).toBe('Edge  shop  edgtls_3MPcK0VYwiLMaZ0tqduGz5z…  Available  the edge has every modu…')
  })

  test('never has a line longer than the terminal, which would break the redraw', () => {
    const text = fc.string({ maxLength: 60, unit: 'grapheme-ascii' })
    const row = fc.record({ kind: text, name: text, id: text, state: text, message: text, ready: fc.boolean() })
    fc.assert(
      fc.property(fc.array(row), fc.integer({ min: 1, max: 200 }), (rows, width) => {
        const lines = tableLines(rows, width)
        expect(lines).toHaveLength(rows.length + 1)
        for (const line of lines) expect(lineText(line).length).toBeLessThanOrEqual(width)
      }),
    )
  })
})

describe('a line for one resource', () => {
  test('names resource, id, state and message', () => {
    expect(rowLine(edge)).toBe(
      'Edge/shop  edgtls_3MPcK0VYwiLMaZ0tqduGz5zZBWp  Available  the edge has every module that its spec names',
    )
  })

  test('leaves out what is not there yet', () => {
    expect(rowLine(policy)).toBe('IPPolicy/office  Waiting')
  })
})
