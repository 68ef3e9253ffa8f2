import { expect, test } from 'vitest'
import { secretType } from '../../../src/kube/core-types.ts'
import { KubeError } from '../../../src/kube/kube-error.ts'
import { REFUSED_FIELDS } from '../../../src/kube/refused-fields.ts'
import type { KubeClient } from '../../../src/kube/types.ts'
import { budgetType } from '../../../src/managed/tunnels/tunnel-resource.ts'
import type { Watches } from '../../../src/operator/watches.ts'
import { explainingRefusals, notingWrites } from '../../../src/operator/wrapped-clients.ts'
import { Poller } from '../../../src/runtime/poller.ts'

const KEY = { namespace: 'web', name: 'shop' }

/** A client each of whose calls fails. */
function failing(error: KubeError) {
  const counted: [string, string | undefined][] = []
  const fail = () => Promise.reject(error)
  const calls = { get: fail, create: fail, mergePatch: fail, apply: fail, delete: fail }
  const kube = explainingRefusals(calls as unknown as KubeClient, (...labels) => counted.push(labels))
  return { kube, counted }
}

const refusal = (words: string): KubeError => {
  const about = "secrets \"shop\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: "
  return new KubeError('Forbidden', about + words, { status: 403, reason: 'Forbidden' })
}

test('a refused write says what to do, and each field is counted once', async () => {
  const { kube, counted } = failing(refusal(`${REFUSED_FIELDS}secrets.metadata.labels.a, secrets.metadata.labels.b`))
  for (const write of [kube.create(secretType, KEY, {}), kube.mergePatch(secretType, KEY, {})]) {
    await expect(write).rejects.toMatchObject({ code: 'Forbidden', status: 403, isRefusedWrite: true })
    await expect(write).rejects.toThrow(/extraFields/)
  }
  expect(counted).toEqual([
    ['secrets', 'metadata.labels'],
    ['secrets', 'metadata.labels'],
  ])
})

test('a refused deletion is counted without a field', async () => {
  const { kube, counted } = failing(refusal('the operator of Culvert changes and deletes only outputs'))
  await expect(kube.delete(secretType, KEY)).rejects.toMatchObject({ isRefusedWrite: true })
  expect(counted).toEqual([['secrets', undefined]])
})

test('what is only to be checked stays so behind every client of the operator', async () => {
  const options: unknown[] = []
  const create = (...[, , object, option]: Parameters<KubeClient['create']>) => {
    options.push(option)
    return Promise.resolve(object)
  }
  const kube = { create } as unknown as KubeClient
  const secrets = new Poller({ client: kube, type: secretType } as unknown as ConstructorParameters<typeof Poller>[0])
  const noting = notingWrites(kube, { secrets } as unknown as Watches)
  for (const client of [noting, explainingRefusals(kube, () => undefined)]) {
    await client.create(budgetType, KEY, {}, { dryRun: true })
  }
  expect(options).toEqual([{ dryRun: true }, { dryRun: true }])
})

test('other failures stay as they are', async () => {
  const error = new KubeError('Forbidden', 'secrets "shop" is forbidden: no right')
  const { kube, counted } = failing(error)
  await expect(kube.apply(secretType, KEY, {})).rejects.toBe(error)
  expect(error.isRefusedWrite).toBe(false)
  expect(counted).toEqual([])
})
