import fc from 'fast-check'
import type { ApiFault } from './model-account-client.ts'
import type { KubeFault } from './model-kube-client.ts'
import { liveThrough, suffer } from './model-trouble.ts'
import { ModelWorld } from './model-world.ts'

type Fields = Readonly<Record<string, unknown>>

const rule = (cidr: string, action: string, more: Fields = {}): Fields => ({
  ipPolicyRef: { name: 'office' },
  cidr,
  action,
  ...more,
})

/** The rules of every story, each with its possible specs; no two ever have the same range. */
const RULES: readonly { readonly name: string; readonly specs: readonly Fields[] }[] = [
  {
    name: 'a',
    specs: [
      rule('10.0.0.0/8', 'Allow'),
      rule('10.0.0.0/8', 'Deny'),
      rule('10.0.0.0/16', 'Deny', { rawMetadata: 'mine' }),
      rule('10.0.0.0/16', 'Allow', { description: 'the office' }),
    ],
  },
  { name: 'b', specs: [rule('172.16.0.0/12', 'Allow'), rule('172.16.0.0/12', 'Deny')] },
]

const open: Fields = { rulesSource: 'IPPolicyRules' }
const edge: Fields = { protocol: 'TLS', hostports: [], ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } }

const apiFaults: readonly ApiFault[] = ['lost', 'late', 'unsent', 'broken', 'limited', 'refused']
const kubeFaults: readonly KubeFault[] = ['lost', 'unsent']
const which = fc.nat({ max: 3 })
const subject = fc.nat({ max: RULES.length - 1 })

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ type: fc.constant('apply' as const), subject, spec: which }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('delete' as const), subject }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('edge' as const), there: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('crash' as const), downMs: fc.constantFrom(0, 100, 3000) }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('api fault' as const), fault: fc.constantFrom(...apiFaults) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('kube fault' as const), fault: fc.constantFrom(...kubeFaults) }),
  },
)

/** A step of a story, and how long the world runs afterwards. */
type Step = (typeof step extends fc.Arbitrary<infer T> ? T : never) & { readonly thenMs: number }

const thenMs = fc.constantFrom(0, 1, 2, 3, 5, 8, 12, 25, 60, 600, 4000)

export const ruleStories: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.tuple(step, thenMs).map(([what, pause]) => ({ ...what, thenMs: pause })),
  { minLength: 1, maxLength: 16, size: 'max' },
)

/** The outcome of a story. */
export interface RuleReport {
  readonly world: ModelWorld
  /** Deletes that left a policy in use without any rule. */
  readonly emptied: readonly string[]
}

/** Plays a story of an edge, its policy and that policy's rules, then waits until everything is at rest. */
export async function liveWithRules(story: readonly Step[]): Promise<RuleReport> {
  const world = ModelWorld.start()
  const emptied = watchForEmptied(world)
  world.apply('IPPolicy', 'office', open)
  world.apply('IPPolicyRule', 'a', RULES[0]?.specs[0] ?? {})
  world.apply('Edge', 'shop', edge)
  await world.clock.advance(4000)
  await liveThrough(world, story, act)
  // A rule that waits because it is the last may be deleted once there is another.
  const names = RULES.map(({ name }) => name)
  const gone = (name: string) => world.get('IPPolicyRule', name)?.metadata.deletionTimestamp !== undefined
  if (names.some(gone)) world.apply('IPPolicyRule', 'last', rule('192.168.0.0/16', 'Allow'))
  // Longer than the slow retry of a refused write, with its jitter, and as many resyncs.
  await world.clock.advance(720_000)
  return { world, emptied }
}

async function act(world: ModelWorld, what: Step): Promise<void> {
  switch (what.type) {
    case 'apply': {
      const { name, specs } = RULES[what.subject] ?? { name: 'a', specs: [] }
      world.apply('IPPolicyRule', name, specs[what.spec % specs.length] ?? {})
      return
    }
    case 'delete': {
      const name = RULES[what.subject]?.name ?? 'a'
      if (world.get('IPPolicyRule', name) !== undefined) world.delete('IPPolicyRule', name)
      return
    }
    case 'edge':
      if (what.there) world.apply('Edge', 'shop', edge)
      else if (world.get('Edge', 'shop') !== undefined) world.delete('Edge', 'shop')
      return
    case 'crash':
    case 'api fault':
    case 'kube fault':
      await suffer(world, what)
  }
}

/** Records every delete of a policy's last rule while an edge uses the policy. */
function watchForEmptied(world: ModelWorld): readonly string[] {
  const emptied: string[] = []
  const { account } = world
  const remove = account.delete.bind(account)
  account.delete = (path, id) => {
    const before = account.list('ip_policy_rules').length
    const answer = remove(path, id)
    const inUse = account.list('edges/tls').length > 0
    if (before === 1 && inUse && account.list('ip_policy_rules').length === 0) emptied.push(`DELETE ${path}/${id}`)
    return answer
  }
  return emptied
}

/** The effect of each rule in the account. */
export function heldRules(world: ModelWorld): readonly Fields[] {
  return world.account.list('ip_policy_rules').map(({ id, cidr, action, description = '' }) => {
    return { id, cidr, action, description }
  })
}

/** The effects that the resources declare. */
export function declaredRules(world: ModelWorld): readonly Fields[] {
  return world
    .all()
    .filter(({ kind }) => kind === 'IPPolicyRule')
    .map(({ spec, status }) => {
      const { cidr, action, description = '' } = spec as Fields
      return { id: status?.id, cidr, action: String(action).toLowerCase(), description }
    })
}
