import { expect, test } from 'vitest'
import { KubeError } from '../../../../src/kube/kube-error.ts'
import type { KubeClient, KubeObject } from '../../../../src/kube/types.ts'
import { holdName, NamespaceHolds } from '../../../../src/managed/accounts/namespace-hold.ts'
import { createLogger } from '../../../../src/util/logger.ts'

const FINALIZER = 'culvert.dev/remote'
const name = holdName('culvert-system', 'culvert')

/** One namespace with a RoleBinding, and the requests to Kubernetes about it. */
class Cluster {
  readonly calls: string[] = []
  needed = false
  failure: KubeError | undefined
  binding: KubeObject | undefined = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name, namespace: 'shop', uid: 'uid', resourceVersion: '1', finalizers: ['example.com/other'] },
  }

  holds(): NamespaceHolds {
    const kube: Pick<KubeClient, 'get' | 'mergePatch'> = {
      get: async <T extends KubeObject>() => {
        this.#called('get')
        return this.binding as T | undefined
      },
      mergePatch: async <T extends KubeObject>(_: unknown, __: unknown, patch: object) => {
        this.#called('patch')
        if (this.binding === undefined) throw new KubeError('NotFound', 'no such binding', { status: 404 })
        const { metadata } = patch as { readonly metadata: object }
        this.binding = { ...this.binding, metadata: { ...this.binding.metadata, ...metadata } }
        return this.binding as T
      },
    }
    const resources = { needsOperator: () => this.needed }
    return new NamespaceHolds({ kube: kube as KubeClient, resources, name, logger: createLogger('silent') })
  }

  get finalizers(): readonly string[] {
    return this.binding?.metadata.finalizers ?? []
  }

  #called(what: string): void {
    this.calls.push(what)
    if (this.failure !== undefined) throw this.failure
  }
}

test('a namespace is held once, before what needs it, and let go once, and what others put on the binding stays', async () => {
  const cluster = new Cluster()
  const holds = cluster.holds()
  await holds.hold('shop')
  expect(cluster.finalizers).toEqual(['example.com/other', FINALIZER])
  cluster.needed = true
  await holds.hold('shop')
  await holds.reconcile('shop')
  expect(cluster.calls).toEqual(['get', 'patch'])
  cluster.needed = false
  await holds.reconcile('shop')
  await holds.reconcile('shop')
  expect(cluster.calls).toEqual(['get', 'patch', 'get', 'patch'])
  expect(cluster.finalizers).toEqual(['example.com/other'])
})

test('who begins to lead reads a binding once, and repairs what another process left', async () => {
  const cluster = new Cluster()
  await cluster.holds().hold('shop')
  const { length } = cluster.calls
  const holds = cluster.holds()
  expect(await holds.reconcile('shop')).toEqual({ type: 'done' })
  await holds.reconcile('shop')
  expect(cluster.calls.slice(length)).toEqual(['get', 'patch'])
  expect(cluster.finalizers).toEqual(['example.com/other'])
})

test('a namespace is not let go that something came to need before the turn of the write', async () => {
  const cluster = new Cluster()
  const holds = cluster.holds()
  await holds.hold('shop')
  const removeFinalizer = holds.reconcile('shop')
  cluster.needed = true
  await removeFinalizer
  await holds.hold('shop')
  expect(cluster.finalizers).toContain(FINALIZER)
})

test('a write that fails is tried again', async () => {
  const cluster = new Cluster()
  const holds = cluster.holds()
  await holds.hold('shop')
  cluster.failure = new KubeError('Conflict', 'moved', { status: 409 })
  expect(await holds.reconcile('shop')).toMatchObject({ type: 'backoff' })
  await expect(cluster.holds().hold('shop')).rejects.toThrow('moved')
  cluster.failure = undefined
  expect(await holds.reconcile('shop')).toEqual({ type: 'done' })
  expect(cluster.finalizers).toEqual(['example.com/other'])
})

test.each(['it may not be read', 'it is not there', 'it is being deleted'])(
  'work continues without a hold: %s',
  async (why) => {
    const cluster = new Cluster()
    if (why === 'it may not be read') cluster.failure = new KubeError('Forbidden', 'no', { status: 403 })
    else if (why === 'it is not there') cluster.binding = undefined
    else if (cluster.binding !== undefined) {
      const { metadata } = cluster.binding
      cluster.binding = { ...cluster.binding, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    }
    const holds = cluster.holds()
    await holds.hold('shop')
    cluster.needed = true
    expect(await holds.reconcile('shop')).toEqual({ type: 'done' })
    expect(cluster.calls).not.toContain('patch')
  },
)

test('a namespace is being deleted if its binding is, and not if there is none', async () => {
  const cluster = new Cluster()
  const holds = cluster.holds()
  expect(await holds.isGoing('shop')).toBe(false)
  const { binding } = cluster
  if (binding === undefined) throw new Error('there is a binding')
  cluster.binding = { ...binding, metadata: { ...binding.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  expect(await holds.isGoing('shop')).toBe(true)
  cluster.binding = undefined
  expect(await holds.isGoing('shop')).toBe(false)
})
