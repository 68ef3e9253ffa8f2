import { expect, test } from 'vitest'
import { Echoes } from '../../../src/kube/echoes.ts'

const object = (resourceVersion: string) => ({
  apiVersion: 'culvert.dev/v1alpha1',
  kind: 'Backend',
  metadata: { name: 'shop', namespace: 'shop', uid: 'u', resourceVersion },
})
const text = (resourceVersion: string): string => JSON.stringify(object(resourceVersion))
const frame = (resourceVersion: string): string => `{"type":"MODIFIED","object":${text(resourceVersion)}}`

function unread(): never {
  throw new Error('it was read again')
}

test('a frame after the answer stands for the object of the answer, once', async () => {
  const echoes = new Echoes()
  const answered = await echoes.duringWrite(async () => echoes.answered(`${text('7')}\n`, () => object('7')))
  expect(echoes.shown(frame('8'))).toBeUndefined()
  expect(echoes.shown(frame('7'))).toBe(answered)
  expect(echoes.shown(frame('7'))).toBeUndefined()
})

test('an answer after the frame stands for the object of the frame', async () => {
  const echoes = new Echoes()
  const shown = object('7')
  const answered = await echoes.duringWrite(async () => {
    echoes.note(frame('7'), shown)
    return echoes.answered(`${text('7')}\n`, unread)
  })
  expect(answered).toBe(shown)
})

test('only what watches showed while a write was in flight is kept for its answer', async () => {
  const echoes = new Echoes()
  echoes.note(frame('7'), object('7'))
  const before = object('7')
  expect(await echoes.duringWrite(async () => echoes.answered(text('7'), () => before))).toBe(before)
  await echoes.duringWrite(async () => echoes.note(frame('8'), object('8')))
  const after = object('8')
  expect(await echoes.duringWrite(async () => echoes.answered(text('8'), () => after))).toBe(after)
})

test('a deletion of the same state is not taken for a change', async () => {
  const echoes = new Echoes()
  await echoes.duringWrite(async () => echoes.answered(text('7'), () => object('7')))
  expect(echoes.shown(`{"type":"DELETED","object":${text('7')}}`)).toBeUndefined()
})
