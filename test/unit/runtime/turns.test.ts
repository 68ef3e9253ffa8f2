import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { eachInTurns, Turns } from '../../../src/runtime/turns.ts'

test('work continues while a turn is short, and waits for the next one when it was long', async () => {
  let now = 0
  const turns = new Turns(() => now)
  expect(turns.next()).toBeUndefined()
  now += 9
  expect(turns.next()).toBeUndefined()
  now += 1
  const next = turns.next()
  expect(next).toBeInstanceOf(Promise)
  expect(turns.next()).toBe(next)
  let hasTurned = false
  void turn().then(() => {
    hasTurned = true
  })
  await next
  expect(turns.next()).toBeUndefined()
  await turn()
  expect(hasTurned).toBe(true)
})

test('time that passes between two turns is not counted', async () => {
  let now = 0
  const turns = new Turns(() => now)
  expect(turns.next()).toBeUndefined()
  await turn()
  now += 1000
  expect(turns.next()).toBeUndefined()
})

test('what is done for many items leaves turns to other work, and misses none', async () => {
  let now = 0
  const done: number[] = []
  const items = Array.from({ length: 100 }, (_, index) => index)
  const working = eachInTurns(new Turns(() => now), items, (item) => {
    done.push(item)
    now += 1
  })
  expect(done.length).toBeLessThan(20)
  await turn()
  expect(done.length).toBeLessThan(100)
  await working
  expect(done).toEqual(items)
})

test('without turns all is done at once', () => {
  const done: number[] = []
  void eachInTurns(undefined, [1, 2], (item) => done.push(item))
  expect(done).toEqual([1, 2])
})
