import { expect, test, vi } from 'vitest'
import { abortable } from '../../../src/util/clock.ts'

test('an abort rejects with its reason and undoes what was begun', async () => {
  const abort = new AbortController()
  const undo = vi.fn()
  const waiting = abortable(abort.signal, () => undo)
  expect(undo).not.toHaveBeenCalled()
  abort.abort('enough')
  await expect(waiting).rejects.toBe('enough')
  expect(undo).toHaveBeenCalledOnce()
})

test('an abort before it begins nothing, and one right after it is settled undoes nothing', async () => {
  const abort = new AbortController()
  const undo = vi.fn()
  const start = vi.fn((settle: (reason: Error) => void) => {
    settle(new Error('done'))
    return undo
  })
  const results = [abortable<Error>(abort.signal, start), abortable(abort.signal, (_, reject) => start(reject))]
  abort.abort('enough')
  results.push(abortable(abort.signal, start))
  const [resolved, rejected, never] = await Promise.allSettled(results)
  expect(resolved).toMatchObject({ value: { message: 'done' } })
  expect([rejected, never]).toMatchObject([{ reason: { message: 'done' } }, { reason: 'enough' }])
  expect([start.mock.calls.length, undo.mock.calls.length]).toEqual([2, 0])
})
