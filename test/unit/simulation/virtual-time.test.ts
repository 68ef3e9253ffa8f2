import fc from 'fast-check'
import { expect, test } from 'vitest'
import { VirtualTime } from '../../faults/simulation/virtual-time.ts'

test('timers fire in the order of their times, those of one moment in the order in which they were set; cancelled ones never', async () => {
  const timers = fc.array(fc.record({ ms: fc.nat({ max: 50 }), isCancelled: fc.boolean() }), { maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(timers, async (wanted) => {
      const time = new VirtualTime()
      const fired: (readonly [index: number, at: number])[] = []
      const cancels = wanted.map(({ ms }, index) => time.setTimer(ms, () => fired.push([index, time.now])))
      for (const [index, { isCancelled }] of wanted.entries()) if (isCancelled) cancels[index]?.()
      await time.advance(50)
      const expected = wanted
        .map(({ ms, isCancelled }, index) => ({ index, ms, isCancelled }))
        .filter(({ isCancelled }) => !isCancelled)
        .toSorted((left, right) => left.ms - right.ms || left.index - right.index)
      expect(fired).toEqual(expected.map(({ index, ms }) => [index, ms]))
      expect(time.now).toBe(50)
    }),
  )
})

test('a timer that another one sets takes its place among those that wait', async () => {
  const time = new VirtualTime()
  const fired: string[] = []
  time.setTimer(10, () => {
    fired.push('first')
    time.setTimer(5, () => fired.push('between'))
    time.setTimer(0, () => fired.push('at once'))
  })
  time.setTimer(20, () => fired.push('last'))
  await time.advance(20)
  expect(fired).toEqual(['first', 'at once', 'between', 'last'])
})

test('a timer can be cancelled by one that fires before it, and what is later than the end stays', async () => {
  const time = new VirtualTime()
  const fired: string[] = []
  const cancel = time.setTimer(10, () => fired.push('cancelled'))
  time.setTimer(5, cancel)
  time.setTimer(11, () => fired.push('later'))
  await time.advance(10)
  expect(fired).toEqual([])
  await time.advance(1)
  expect(fired).toEqual(['later'])
})

test('what a timer set off comes to its end before the next one fires, work that is held included', async () => {
  const time = new VirtualTime()
  const order: string[] = []
  const work = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    order.push(`worked at ${time.now}`)
  }
  time.setTimer(1, () => void time.hold(work()))
  time.setTimer(2, () => order.push('next'))
  await time.advance(2)
  expect(order).toEqual(['worked at 1', 'next'])
})

test('time stands still for work that fails no longer than for other work', async () => {
  const time = new VirtualTime()
  time.setTimer(1, () => void time.hold(Promise.reject(new Error('refused'))).catch(() => undefined))
  await time.advance(5)
  expect(time.now).toBe(5)
})

test('time passes until something holds, and no further than it may', async () => {
  const time = new VirtualTime()
  let count = 0
  const tick = (): void => {
    count += 1
    time.setTimer(10, tick)
  }
  tick()
  expect(await time.until(() => count === 3, 1_000)).toBe(true)
  expect(time.now).toBe(20)
  expect(await time.until(() => count === 100, 50)).toBe(false)
  expect([count, time.now <= 70]).toEqual([8, true])
})
