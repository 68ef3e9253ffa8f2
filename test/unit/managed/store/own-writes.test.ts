import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../src/kube/types.ts'
import { OwnWrites } from '../../../../src/managed/store/own-writes.ts'

const version = (resourceVersion: string, uid = 'uid-1'): KubeObject => ({
  apiVersion: 'culvert.dev/v1alpha1',
  kind: 'Backend',
  metadata: { uid, namespace: 'shop', name: 'web', resourceVersion },
})

/** Writes version 2 of an object; `meanwhile` runs while the write is in flight. @returns what others have changed */
async function writing(writes: OwnWrites, meanwhile: () => void): Promise<readonly string[]> {
  const changed: string[] = []
  writes.onChangedByOthers(({ kind, name }) => changed.push(`${kind}/${name}`))
  const send = async (): Promise<KubeObject> => {
    meanwhile()
    return version('2')
  }
  await writes.inFlight(version('1'), send, () => undefined)
  return changed
}

test('what a watch delivers of an object is a change by others unless a write to it is in flight', async () => {
  const writes = new OwnWrites()
  expect(writes.mayBeOurs(version('1'))).toBe(false)
  await writing(writes, () => {
    expect(writes.mayBeOurs(version('2'))).toBe(true)
    expect(writes.mayBeOurs(version('2', 'uid-2'))).toBe(false)
  })
  expect(writes.mayBeOurs(version('3'))).toBe(false)
})

test('nobody is notified of a version that the response shows to be ours', async () => {
  const writes = new OwnWrites()
  expect(await writing(writes, () => writes.mayBeOurs(version('2')))).toEqual([])
})

test('a version of another client, seen while our write was in flight, is reported once it is over', async () => {
  const writes = new OwnWrites()
  const changed = await writing(writes, () => {
    writes.mayBeOurs(version('2'))
    writes.mayBeOurs(version('3'))
  })
  expect(changed).toEqual(['Backend/web'])
})

test('a write that fails may have been carried out: whatever was seen meanwhile is reported', async () => {
  const writes = new OwnWrites()
  const failing = writing(writes, () => {
    writes.mayBeOurs(version('2'))
    throw new Error('no answer')
  })
  const changed: string[] = []
  writes.onChangedByOthers(({ name }) => changed.push(name))
  await expect(failing).rejects.toThrow('no answer')
  expect(changed).toEqual(['web'])
})

test('it is recording only while a write is put into the store, even if that fails', () => {
  const writes = new OwnWrites()
  const seen: boolean[] = []
  writes.recordedBy(() => seen.push(writes.recording))
  expect(() =>
    writes.recordedBy(() => {
      throw new Error('a listener failed')
    }),
  ).toThrow('a listener failed')
  expect([...seen, writes.recording]).toEqual([true, false])
})
