import { expect } from 'vitest'
import type { Surrounding } from '../../kinds/kind-test-data.ts'
import type { Episode } from './episodes.ts'
import type { SimulatedWorld } from './world.ts'

type Body = Readonly<Record<string, unknown>>

/** What the API should show of a resource's object, as written down by people from the contract. */
export interface WrittenDown {
  readonly object: Body
  /** Whether `object` names every field. */
  readonly isWhole: boolean
  /** Rules of a policy; undefined: they are not compared. */
  readonly rules?: readonly Body[] | undefined
}

/** Where the object of the episode's resource differs from what was written down for its spec; empty if nothing was. */
export async function unlikeWritten(
  world: SimulatedWorld,
  { kind, name, written }: Episode,
): Promise<readonly string[]> {
  const cr = world.get(kind, name)
  const place = cr === undefined ? undefined : world.placeOf(cr)
  if (written === undefined || place === undefined) return []
  const { object, isWhole, rules } = written(await surrounding(world, name))
  const shown = await world.api.ask('GET', `/${place.path}/${place.id}`)
  const about = `${kind}/${name} as written down`
  try {
    expect(shown, about).toEqual(isWhole ? object : expect.objectContaining(object))
    if (rules !== undefined) await expectRules(world, place.id, rules, about)
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

async function expectRules(
  world: SimulatedWorld,
  policy: string,
  rules: readonly Body[],
  about: string,
): Promise<void> {
  const answer = await world.api.ask('GET', '/ip_policy_rules?limit=100')
  const held = (answer.ip_policy_rules as readonly (Body & { readonly ip_policy: { readonly id: string } })[])
    .filter((rule) => rule.ip_policy.id === policy)
    .map(({ id: _id, uri: _uri, created_at: _at, ip_policy: _policy, ...rule }) => rule)
  expect(held, about).toHaveLength(rules.length)
  expect(held, about).toEqual(expect.arrayContaining([...rules]))
}

async function surrounding(world: SimulatedWorld, name: string): Promise<Surrounding> {
  const statusOf = (kind: string, of: string): Body => (world.get(kind, of)?.status ?? {}) as Body
  const keys = (await world.api.ask('GET', '/api_keys')).keys as readonly Body[]
  const [boot] = keys.toSorted((left, right) => (String(left.created_at) < String(right.created_at) ? -1 : 1))
  return {
    name,
    id: (kind, of) => String(statusOf(kind, of).id),
    // In the server's case; the judge reads it in lower case.
    addr: (of) => String(statusOf('ReservedAddress', of).addr).toLowerCase(),
    ownUser: String(boot?.owner_id),
  }
}
