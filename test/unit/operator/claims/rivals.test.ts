import { expect, test } from 'vitest'
import { KubeError } from '../../../../src/kube/kube-error.ts'
import type { KubeClient, KubeObject } from '../../../../src/kube/types.ts'
import { Rivals } from '../../../../src/operator/claims/rivals.ts'
import { FakeClock } from '../../../builders/fake-clock.ts'
import { createSilentLogger } from '../../../builders/silent-logger.ts'

const claim = { operator: 'culvert-system/blue', term: 'one' }
const held = { holderIdentity: 'blue-0', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' }

/** Other operators' Leases, as the API server would show them: undefined, an error, or the spec. */
class Stage {
  readonly clock = new FakeClock()
  readonly read: string[] = []
  lease: object | Error | undefined = held
  readonly rivals: Rivals

  constructor() {
    const get = (_type: unknown, { namespace, name }: { namespace?: string; name: string }) => {
      this.read.push(`${namespace}/${name}`)
      if (this.lease instanceof Error) return Promise.reject(this.lease)
      return Promise.resolve(this.lease && ({ spec: this.lease } as unknown as KubeObject))
    }
    const kube = { get } as unknown as Pick<KubeClient, 'get'>
    const { clock } = this
    this.rivals = new Rivals({ kube, clock, logger: createSilentLogger(), namespace: 'culvert-system' })
  }

  /** What is known after each of these many milliseconds. */
  async after(...pauses: readonly number[]): Promise<readonly (number | undefined)[]> {
    const known: (number | undefined)[] = []
    for (const ms of pauses) {
      await this.clock.advance(ms)
      known.push(await this.rivals.silentMs(claim))
    }
    return known
  }
}

test.each([
  ['is held and does not change', held],
  ['is not held', { holderIdentity: '', leaseDurationSeconds: 1 }],
  ['is absent', undefined],
])('a Lease that %s is silent since it was first read', async (_title, lease) => {
  const stage = new Stage()
  stage.lease = lease
  expect(await stage.after(0, 20_000, 20_000, 20_000)).toEqual([0, 20_000, 40_000, 60_000])
  expect(stage.read).toEqual(Array(4).fill('culvert-system/blue'))
})

test('a Lease is silent only after its own duration', async () => {
  const stage = new Stage()
  stage.lease = { ...held, leaseDurationSeconds: 120 }
  expect(await stage.after(0, 60_000, 60_000, 20_000)).toEqual([0, 0, 0, 140_000])
})

test('a renewal, or a leader that came and went, begins the silence anew', async () => {
  const stage = new Stage()
  await stage.after(0, 40_000)
  stage.lease = { ...held, renewTime: '2026-01-01T00:00:40.000000Z' }
  expect(await stage.after(20_000, 20_000)).toEqual([0, 20_000])
})

test('the silence of an earlier leader says nothing about the next term', async () => {
  const stage = new Stage()
  await stage.after(0, 60_000)
  expect(await stage.rivals.silentMs({ ...claim, term: 'two' })).toBe(0)
})

test('a silence that nobody asked about for long begins anew', async () => {
  const stage = new Stage()
  expect(await stage.after(0, 20_000, 600_001, 20_000)).toEqual([0, 20_000, 0, 20_000])
})

test('a Lease is read once for many accounts', async () => {
  const stage = new Stage()
  await stage.after(0, 1_000, 1_000, 20_000)
  expect(stage.read).toHaveLength(2)
})

test('while a Lease cannot be read nothing is known, and a silence that goes on counts as a whole', async () => {
  const stage = new Stage()
  await stage.after(0)
  stage.lease = new KubeError('Forbidden', 'no right')
  expect(await stage.after(20_000)).toEqual([undefined])
  stage.lease = held
  expect(await stage.after(40_000)).toEqual([60_000])
})

test('the Lease of an operator in another namespace is never read', async () => {
  const stage = new Stage()
  expect(stage.rivals.isReadable('elsewhere/blue')).toBe(false)
  expect(await stage.rivals.silentMs({ operator: 'elsewhere/blue', term: 'one' })).toBeUndefined()
  expect(stage.read).toEqual([])
})
