import { expect, test } from 'vitest'
import { KubeError } from '../../../../src/kube/errors.ts'
import type { KubeObject } from '../../../../src/kube/types.ts'
import { WaitError } from '../../../../src/managed/reconcile/errors.ts'
import type { WantedObject } from '../../../../src/managed/tunnels/objects.ts'
import { OwnedObjects } from '../../../../src/managed/tunnels/owned-objects.ts'

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
