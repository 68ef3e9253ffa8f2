import { expect } from 'vitest'
import type { KubeObject } from '../../../src/kube/types.ts'
import { managed } from './cases.ts'
import { secrets } from './tokens.ts'
import { until } from './wait.ts'
import type { World } from './world.ts'

/** What remains after everything else is deleted. */
export interface Kept {
  /** CRs. */
  readonly needs?: readonly { readonly kind: string; readonly name: string }[]
  /** Ids of objects without a CR. */
  readonly objects?: readonly unknown[]
  /** Secrets that the test created, besides the Account's own. */
  readonly secrets?: readonly string[]
}

/** Checks that only the kept objects remain in the account and the namespace, and that none of them is missing. */
export async function expectNothingLeft(world: World, kept: Kept = {}): Promise<void> {
  const { needs = [], objects = [], secrets: ownSecrets = [] } = kept
  for (const { definition } of managed) {
    const { kind } = definition
    await until(
      `only what is needed is left of ${kind}`,
      async () => {
        return (await world.list(kind)).every(({ metadata }) => needs.some(({ name }) => name === metadata.name))
      },
      { timeoutMs: 120_000, describe: async () => [await world.list(kind), world.operator.log.split('\n').slice(-20)] },
    )
  }
  await world.resync()
  const needed = new Set<unknown>([world.journal()[0]?.keyId, ...objects])
  for (const { kind, name } of needs) needed.add((await world.ready(kind, name)).status?.id)
  for (const path of new Set(
    managed.flatMap(({ identity: { collections } }) => collections.map((each) => each.path)),
  )) {
    const left = (await world.remote(path)).filter(({ id, ip_policy: policy }) => {
      return !needed.has(id) && !needed.has((policy as { readonly id?: string } | undefined)?.id)
    })
    expect(left, path).toEqual([])
  }
  expect((await world.get('Account', 'default'))?.status?.orphanCount).toBe(0)
  const outputs = async () => {
    const { items } = await world.kube.list<KubeObject>(secrets, { namespace: world.namespace })
    return items.map(({ metadata }) => metadata.name).filter((name) => !['credentials', ...ownSecrets].includes(name))
  }
  await until('every Secret is collected', async () => (await outputs()).length === 0, { describe: outputs })
}
