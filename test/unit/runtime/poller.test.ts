import { expect, test } from 'vitest'
import { KubeError } from '../../../src/kube/kube-error.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../../../src/kube/types.ts'
import { Poller } from '../../../src/runtime/poller.ts'
import { FakeClock } from '../../builders/fake-clock.ts'
import { createSilentLogger } from '../../builders/silent-logger.ts'

const type: ResourceType = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true }

/** A poller of a few objects, with all its requests and notifications. */
class Polling {
  readonly clock = new FakeClock()
  readonly objects = new Map<string, KubeObject>()
  readonly ready = Promise.withResolvers<void>()
  readonly asked: string[] = []
  readonly told: string[] = []
  names: readonly ObjectKey[] = []
  failing: Error | undefined
  #version = 0
  readonly poller = new Poller<KubeObject>({
    client: {
      get: <T extends KubeObject>(_type: ResourceType, { name }: ObjectKey) => {
        this.asked.push(name)
        if (this.failing !== undefined) return Promise.reject(this.failing)
        return Promise.resolve(this.objects.get(name) as T | undefined)
      },
    },
    type,
    names: () => this.names,
    ready: this.ready.promise,
    intervalMs: 60_000,
    clock: this.clock,
    random: { next: () => 0.5, hex: () => '' },
    logger: createSilentLogger(),
  })

  constructor() {
    this.poller.subscribe(({ type: change, object }) => this.told.push(`${change} ${object.metadata.name}`))
  }

  put(name: string, uid = name): void {
    this.#version++
    const metadata = { name, namespace: 'shop', uid, resourceVersion: String(this.#version) }
    this.objects.set(name, { apiVersion: 'v1', kind: 'Secret', metadata })
  }

  /** Notifications until that many seconds have passed. */
  async after(seconds: number): Promise<readonly string[]> {
    this.told.length = 0
    this.asked.length = 0
    await this.clock.advance(seconds * 1000)
    return this.told
  }
}

const named = (...names: readonly string[]): readonly ObjectKey[] => names.map((name) => ({ namespace: 'shop', name }))

test('nothing is asked before the names are known; then everything has been seen after one round', async () => {
  const polling = new Polling()
  polling.put('a')
  let synced = false
  void polling.poller.synced.then(() => (synced = true))
  void polling.poller.start(new AbortController().signal)
  await polling.after(100)
  expect([polling.asked, synced]).toEqual([[], false])
  polling.names = named('a', 'b', 'a')
  polling.ready.resolve()
  expect(await polling.after(1)).toEqual(['added a'])
  expect([polling.asked, synced]).toEqual([['a', 'b'], true])
})

test('what appears, changes, is recreated or goes is reported in the next round, and once', async () => {
  const polling = new Polling()
  polling.names = named('a', 'b')
  polling.put('a')
  polling.ready.resolve()
  void polling.poller.start(new AbortController().signal)
  await polling.after(1)
  polling.put('b')
  expect(await polling.after(50)).toEqual([])
  expect(await polling.after(10)).toEqual(['added b'])
  polling.put('a')
  polling.put('b', 'another')
  expect(await polling.after(60)).toEqual(['updated a', 'deleted b', 'added b'])
  polling.objects.delete('a')
  expect(await polling.after(60)).toEqual(['deleted a'])
  expect(await polling.after(60)).toEqual([])
})

test('what nobody names any more is forgotten, and not asked for', async () => {
  const polling = new Polling()
  polling.names = named('a', 'b')
  polling.put('a')
  polling.put('b')
  polling.ready.resolve()
  void polling.poller.start(new AbortController().signal)
  await polling.after(1)
  polling.names = named('b')
  await polling.after(60)
  expect(polling.asked).toEqual(['b'])
  expect(polling.poller.store.list().map(({ metadata }) => metadata.name)).toEqual(['b'])
})

test('what we wrote ourselves is reported at once, and missed when it is gone by the next round', async () => {
  const polling = new Polling()
  polling.names = named('a')
  polling.ready.resolve()
  void polling.poller.start(new AbortController().signal)
  await polling.after(1)
  polling.put('a')
  const written = polling.objects.get('a') as KubeObject
  polling.told.length = 0
  polling.poller.note({ ...written, data: { token: 'secret' } })
  expect(polling.told).toEqual(['added a'])
  expect(polling.poller.store.list()).toEqual([written])
  polling.objects.delete('a')
  expect(await polling.after(60)).toEqual(['deleted a'])
})

test('a look that fails changes nothing, and the next round looks again', async () => {
  const polling = new Polling()
  polling.names = named('a')
  polling.put('a')
  polling.ready.resolve()
  void polling.poller.start(new AbortController().signal)
  await polling.after(1)
  polling.failing = new KubeError('Unavailable', 'GET secrets: down')
  expect(await polling.after(60)).toEqual([])
  expect(polling.poller.store.size).toBe(1)
  polling.failing = undefined
  polling.put('a')
  expect(await polling.after(60)).toEqual(['updated a'])
})

test('it ends when it is asked to', async () => {
  const polling = new Polling()
  const stop = new AbortController()
  polling.ready.resolve()
  const running = polling.poller.start(stop.signal)
  await polling.after(1)
  stop.abort()
  await running
  polling.names = named('a')
  await polling.after(120)
  expect(polling.asked).toEqual([])
})

test('an object that goes back in time, as when etcd is restored, is reported', async () => {
  const polling = new Polling()
  polling.put('a')
  const older = polling.objects.get('a') as KubeObject
  polling.put('a')
  polling.names = named('a')
  polling.ready.resolve()
  void polling.poller.start(new AbortController().signal)
  await polling.after(1)
  polling.objects.set('a', older)
  expect(await polling.after(70)).toEqual(['updated a'])
  expect(polling.poller.store.get({ namespace: 'shop', name: 'a' })).toEqual(older)
})

test('an object that was there before others were looked at is known once somebody names it', async () => {
  const polling = new Polling()
  for (const name of ['old', 'new']) polling.put(name)
  polling.names = named('new')
  polling.ready.resolve()
  void polling.poller.start(new AbortController().signal)
  await polling.after(1)
  polling.names = named('new', 'old')
  expect(await polling.after(70)).toEqual(['added old'])
})

test('who asks for everything again waits for a round that begins then, and not for the next one', async () => {
  const polling = new Polling()
  polling.put('a')
  polling.names = named('a')
  polling.ready.resolve()
  void polling.poller.start(new AbortController().signal)
  await polling.after(10)
  expect(await polling.poller.refresh(0)).toBe(false)
  polling.put('a')
  const refreshed = polling.poller.refresh(polling.clock.monotonic())
  expect(await polling.after(0.001)).toEqual(['updated a'])
  expect(await refreshed).toBe(true)
  expect(polling.asked).toEqual(['a'])
})
