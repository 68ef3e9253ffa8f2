import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LEAST_WINDOW, MOST_WINDOW, ReceiveWindow, WindowBudget } from '../../../src/ssh/receive-window.ts'

/** One stream from both sides: a far side that sends what it may, and a reader that takes what it likes. */
class Stream {
  readonly window: ReceiveWindow
  /** What the far side may still send. */
  open = LEAST_WINDOW
  waiting = 0

  constructor(budget: WindowBudget) {
    this.window = new ReceiveWindow(budget)
  }

  send(bytes: number): void {
    expect(this.window.receive(bytes)).toBe(true)
    this.open -= bytes
    this.waiting += bytes
  }

  take(bytes: number): void {
    this.waiting -= bytes
    this.open += this.window.grant(this.waiting)
  }
}

/** Of what may be sent, and of what waits, a part each. */
const steps = fc.array(
  fc.record({
    stream: fc.nat(2),
    sent: fc.double({ min: 0, max: 1, noNaN: true }),
    taken: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  { maxLength: 100 },
)

describe('a window', () => {
  test('is never exceeded by what waits, and all together never exceed the budget', () => {
    fc.assert(
      fc.property(steps, fc.nat(4 * MOST_WINDOW), (given, bytes) => {
        const budget = new WindowBudget(bytes)
        const streams = [new Stream(budget), new Stream(budget), new Stream(budget)]
        for (const { stream: index, sent, taken } of given) {
          const stream = streams[index]
          if (stream === undefined) continue
          stream.send(Math.floor(sent * stream.open))
          stream.take(Math.floor(taken * stream.waiting))
          expect(stream.open + stream.waiting).toBeLessThanOrEqual(stream.window.size)
          expect(stream.window.size).toBeLessThanOrEqual(MOST_WINDOW)
        }
        const beyond = streams.reduce((sum, { window }) => sum + window.size - LEAST_WINDOW, 0)
        expect(beyond).toBeLessThanOrEqual(bytes)
        for (const { window } of streams) window.release()
        expect(budget.take(Number.MAX_SAFE_INTEGER)).toBe(bytes)
      }),
    )
  })

  test('never dries up while the reader takes what comes, whatever is left of the budget', () => {
    fc.assert(
      fc.property(
        fc.nat(MOST_WINDOW),
        fc.array(fc.integer({ min: 1, max: 32_768 }), { maxLength: 200 }),
        (bytes, sizes) => {
          const stream = new Stream(new WindowBudget(bytes))
          for (const size of sizes) {
            stream.send(Math.min(size, stream.open))
            stream.take(stream.waiting)
            expect(stream.open).toBeGreaterThan(0)
          }
        },
      ),
    )
  })

  test('grows to its most while the reader keeps up, and not at all for one that is always behind', () => {
    const budget = new WindowBudget(2 * MOST_WINDOW)
    const [fast, slow] = [new Stream(budget), new Stream(budget)]
    for (let turn = 0; turn < 100; turn += 1) {
      fast.send(fast.open)
      fast.take(fast.waiting)
      slow.send(slow.open)
      slow.take(slow.waiting - 1)
    }
    expect(fast.window.size).toBe(MOST_WINDOW)
    expect(slow.window.size).toBe(LEAST_WINDOW)
  })

  test('refuses what exceeds it', () => {
    const { window } = new Stream(new WindowBudget(0))
    expect(window.receive(LEAST_WINDOW + 1)).toBe(false)
    expect(window.receive(LEAST_WINDOW)).toBe(true)
    expect(window.receive(1)).toBe(false)
  })
})
