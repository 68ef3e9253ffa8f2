import { expect, test } from 'vitest'
import { KubeError } from '../../../../src/kube/kube-error.ts'
import type { KubeObject } from '../../../../src/kube/types.ts'
import { OwnedObjects } from '../../../../src/managed/composed/owned-objects.ts'
import type { WantedObject } from '../../../../src/managed/composed/wanted.ts'
import { ConflictError, WaitError } from '../../../../src/managed/run/control-flow-errors.ts'
import { FakeClock } from '../../../builders/fake-clock.ts'

const OWNER: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'web', name: 'shop', uid: 'uid-1', resourceVersion: '1' },
}
const type = { group: 'culvert.dev', version: 'v1alpha1', plural: 'edges', kind: 'Edge', namespaced: true }

function wanted(protocol: string): WantedObject {
  return { type, name: 'shop-80', labels: {}, annotations: {}, content: { spec: { protocol } }, fixed: ['protocol'] }
}

test('what no watch has shown yet, and cannot become what is wanted, is deleted and not changed', async () => {
  const stored = new Map<string, KubeObject>()
  const calls: string[] = []
  const objects = new OwnedObjects({
    known: () => undefined,
    readOwner: () => Promise.reject(new Error('the owner is not read')),
    clock: new FakeClock(),
    record: () => undefined,
    kube: {
      get: async <T extends KubeObject>(_type: unknown, { name }: { readonly name: string }) => stored.get(name) as T,
      create: async <T extends KubeObject>(_type: unknown, { name }: { readonly name: string }, body: object) => {
        calls.push(`create ${name}`)
        const { metadata } = body as KubeObject
        const made = { ...body, metadata: { ...metadata, uid: 'uid-2', resourceVersion: '2' } } as KubeObject
        stored.set(name, made)
        return made as T
      },
      mergePatch: () => Promise.reject(new Error('nothing is changed')),
      delete: async (_type, { name }, options) => {
        calls.push(`delete ${name} ${options?.uid}`)
        return stored.delete(name)
      },
    },
  })
  await objects.keep(OWNER, wanted('TLS'))
  await expect(objects.keep(OWNER, wanted('TCP'))).rejects.toThrow(WaitError)
  await objects.keep(OWNER, wanted('TCP'))
  expect(calls).toEqual(['create shop-80', 'delete shop-80 uid-2', 'create shop-80'])
})

test.each<['AlreadyExists' | 'Invalid', boolean]>([
  // It is left to `keep` to say whose it is.
  ['AlreadyExists', true],
  ['Invalid', false],
])('what the API server says of a new object, %s, passes the check: %s', async (code, passes) => {
  const objects = new OwnedObjects({
    known: () => undefined,
    readOwner: () => Promise.reject(new Error('the owner is not read')),
    clock: new FakeClock(),
    record: () => Promise.reject(new Error('nothing is made')),
    kube: {
      get: () => Promise.reject(new Error('nothing is read')),
      create: (_type, _key, _body, options) => {
        if (options?.dryRun !== true) throw new Error('it is made')
        return Promise.reject(new KubeError(code, 'no'))
      },
      mergePatch: () => Promise.reject(new Error('nothing is changed')),
      delete: () => Promise.reject(new Error('nothing is deleted')),
    },
  })
  const checked = objects.check(OWNER, wanted('TLS')).then(
    () => true,
    () => false,
  )
  expect(await checked).toBe(passes)
})

const MINUTE = 60_000

test('an object that is gone is made again for the owner that the API server has, and ever more rarely', async () => {
  const clock = new FakeClock()
  const calls: string[] = []
  let live: KubeObject | undefined = OWNER
  let stored: KubeObject | undefined
  const objects = new OwnedObjects({
    known: () => stored,
    record: () => undefined,
    readOwner: () => {
      calls.push('read')
      return Promise.resolve(live)
    },
    clock,
    kube: {
      get: () => Promise.resolve(undefined),
      create: async <T extends KubeObject>(_type: unknown, _key: unknown, body: object) => {
        calls.push('create')
        stored = { ...body, metadata: { ...(body as KubeObject).metadata, uid: 'uid-2', resourceVersion: '2' } } as T
        return stored as T
      },
      mergePatch: () => Promise.reject(new Error('nothing is changed')),
      delete: () => Promise.reject(new Error('nothing is deleted')),
    },
  })
  const keep = async (): Promise<readonly string[]> => {
    const from = calls.length
    await objects.keep(OWNER, wanted('TLS'))
    return calls.slice(from)
  }
  expect(await keep()).toEqual(['create'])
  expect(await keep()).toEqual([])
  const { metadata } = OWNER
  for (const other of [
    undefined,
    { ...OWNER, metadata: { ...metadata, uid: 'uid-3' } },
    { ...OWNER, metadata: { ...metadata, resourceVersion: '3' } },
    { ...OWNER, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
  ]) {
    live = other
    stored = undefined
    await expect(keep()).rejects.toThrow(ConflictError)
  }
  live = OWNER
  expect(await keep()).toEqual(['read', 'create'])
  for (const pause of [MINUTE, 2 * MINUTE, 4 * MINUTE]) {
    stored = undefined
    await clock.advance(pause - 1)
    await expect(keep()).rejects.toMatchObject({ retryMs: 1 })
    await clock.advance(1)
    expect(await keep()).toEqual(['read', 'create'])
  }
  objects.forget(OWNER)
  stored = undefined
  expect(await keep()).toEqual(['create'])
  expect(calls.filter((call) => call === 'create')).toHaveLength(6)
})
