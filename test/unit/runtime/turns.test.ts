import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Turns } from '../../../src/runtime/turns.ts'

test('work goes on while a turn is short, and waits for the next one when it was long', async () => {
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
