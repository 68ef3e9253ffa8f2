import { expect, test } from 'vitest'
import { Relist } from '../../../src/operator/relist.ts'
import { FakeClock } from '../../builders/fake-clock.ts'

const PAUSE_MS = 30_000

function start() {
  const clock = new FakeClock()
  const stop = new AbortController()
  const asked: number[] = []
  const refresh = (since: number): Promise<void> => {
    asked.push(since)
    return Promise.resolve()
  }
  return { clock, stop, asked, relist: new Relist({ clock, signal: stop.signal, refresh }) }
}

test('signs that come together lead to one list, of what was not listed since the last of them', async () => {
  const { clock, asked, relist } = start()
  relist.request(1)
  await clock.advance(PAUSE_MS - 1)
  relist.request(2)
  expect(asked).toEqual([])
  await clock.advance(1)
  expect(asked).toEqual([2])
  relist.request(3)
  await clock.advance(PAUSE_MS)
  expect(asked).toEqual([2, 3])
})

test('nothing is listed after a stop', async () => {
  const { clock, stop, asked, relist } = start()
  relist.request(1)
  stop.abort()
  await clock.advance(PAUSE_MS)
  expect(asked).toEqual([])
})
