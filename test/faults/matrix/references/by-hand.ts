import { type CustomResource, statusOf } from '../../../../src/managed/cr.ts'
import { Oracle } from '../../simulation/oracle.ts'
import type { Laboratory, SimulatedWorld } from '../../simulation/world.ts'
import { type Deletion, kinds, told, watchUse } from './deletions.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Longer than any request, and shorter than the pause between two resyncs of the account: only a wake-up can cause what
 * happens within it.
 */
const WOKEN_MS = 5_000
/** Two resyncs of the account. */
const LOOKS_MS = 130_000

const rule = (cidr: string, policy: Fields = { name: 'office' }): Fields => ({
  ipPolicyRef: policy,
  cidr,
  action: 'Allow',
})
const edge = (policy: Fields, more: Fields = {}): Fields => ({
  protocol: 'TCP',
  hostports: [],
  ipRestriction: { ipPolicyRefs: [policy] },
  ...more,
})

/** A stage on which people also change remote objects by hand. */
class Stage {
  readonly world: SimulatedWorld
  readonly oracle: Oracle
  readonly problems: string[]

  private constructor(world: SimulatedWorld, oracle: Oracle) {
    this.world = world
    this.oracle = oracle
    this.problems = watchUse(world, oracle)
  }

  static async open(laboratory: Laboratory): Promise<Stage> {
    const world = laboratory.world({ kinds })
    return new Stage(world, await Oracle.watch(world))
  }

  /** Applies resources and waits until they are at rest. */
  async has(...manifests: readonly (readonly [kind: string, name: string, spec: Fields])[]): Promise<void> {
    for (const [kind, name, spec] of manifests) this.world.apply(kind, name, spec)
    this.problems.push(...(await this.oracle.untilRest()))
    await this.world.advance(WOKEN_MS)
  }

  async idOf(kind: string, name: string): Promise<string> {
    return statusOf(this.world.get(kind, name) as CustomResource).id ?? ''
  }

  async post(path: string, body: Fields): Promise<string> {
    return String((await this.world.api.ask('POST', path, body)).id)
  }

  async take(path: string, id: string): Promise<void> {
    await this.world.api.ask('DELETE', `${path}/${id}`)
  }

  expect(holds: boolean, what: string): void {
    if (!holds) this.problems.push(`${what}: ${told(this.world)}`)
  }

  isGone(kind: string, name: string): boolean {
    return this.world.get(kind, name) === undefined
  }

  reasonOf(kind: string, name: string): string | undefined {
    return statusOf(this.world.get(kind, name) as CustomResource).conditions?.find(({ type }) => type === 'Ready')
      ?.reason
  }

  async end(): Promise<readonly string[]> {
    for (const { kind, metadata } of this.world.all()) this.world.delete(kind, metadata.name)
    return [...this.problems, ...(await this.oracle.judge({}))]
  }
}

type Story = (stage: Stage) => Promise<void>

/** The last rule except for one that was deleted at the API, which no list has shown yet. */
const otherRuleGone: Story = async (stage) => {
  await stage.has(
    ['IPPolicy', 'office', { rulesSource: 'IPPolicyRules' }],
    ['IPPolicyRule', 'a', rule('10.0.0.0/8')],
    ['IPPolicyRule', 'b', rule('10.1.0.0/16')],
    ['Edge', 'shop', edge({ name: 'office' })],
  )
  await stage.take('/ip_policy_rules', await stage.idOf('IPPolicyRule', 'b'))
  stage.oracle.meddled('IPPolicyRule', 'b')
  stage.world.delete('IPPolicyRule', 'a')
  // The other one is created again first.
  await stage.world.advance(LOOKS_MS)
  stage.expect(stage.isGone('IPPolicyRule', 'a'), 'the rule waits still')
}

/** The same, for a policy that declares its rules. */
const declaredRuleGone: Story = async (stage) => {
  const [a, b] = ['10.0.0.0/8', '10.1.0.0/16'].map((cidr) => ({ cidr, action: 'Allow' }))
  await stage.has(['IPPolicy', 'office', { rules: [a, b] }], ['Edge', 'shop', edge({ name: 'office' })])
  const { rules } = statusOf(stage.world.get('IPPolicy', 'office') as CustomResource) as { rules?: { id: string }[] }
  await stage.take('/ip_policy_rules', rules?.[1]?.id ?? '')
  stage.world.apply('IPPolicy', 'office', { rules: [b] })
}

/** A rule of a policy without a CR, which an edge without a CR uses too. */
const policyByHand: Story = async (stage) => {
  const id = await stage.post('/ip_policies', {})
  stage.oracle.allow({ others: new Set([id]), refused: ['ReferenceNotReady'] })
  // An empty policy admits either nobody or everybody: nothing says which.
  stage.world.apply('Edge', 'early', edge({ id }))
  await stage.world.advance(WOKEN_MS)
  stage.expect(stage.reasonOf('Edge', 'early') === 'ReferenceNotReady', 'an edge refers to a policy without rules')
  await stage.has(['IPPolicyRule', 'a', rule('10.0.0.0/8', { id })])
  await stage.world.advance(LOOKS_MS)
  stage.expect(stage.reasonOf('Edge', 'early') === 'Available', 'the edge waits still')
  stage.world.delete('IPPolicyRule', 'a')
  await stage.world.advance(LOOKS_MS)
  stage.expect(!stage.isGone('IPPolicyRule', 'a'), 'the last rule is gone')
  stage.world.delete('Edge', 'early')
  await stage.world.advance(WOKEN_MS)
  stage.expect(stage.isGone('IPPolicyRule', 'a'), 'the rule waits still')
  await stage.take('/ip_policies', id)
}

/** A policy that reaches its desired state wakes an edge that refers to it by its id. */
const usableById: Story = async (stage) => {
  await stage.has(['IPPolicy', 'office', { rulesSource: 'IPPolicyRules' }])
  stage.world.apply('Edge', 'shop', edge({ id: await stage.idOf('IPPolicy', 'office') }))
  await stage.world.advance(WOKEN_MS)
  stage.expect(stage.reasonOf('Edge', 'shop') === 'ReferenceNotReady', 'an edge refers to a policy without rules')
  stage.world.apply('IPPolicyRule', 'a', rule('10.0.0.0/8'))
  await stage.world.advance(WOKEN_MS)
  stage.expect(stage.reasonOf('Edge', 'shop') === 'Available', 'the edge waits still')
}

/**
 * Rules that a policy declared stay when it switches to rules from elsewhere, and it reports them until they are
 * deleted.
 */
const keptRules: Story = async (stage) => {
  const spec = { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] }
  await stage.has(['IPPolicy', 'office', spec], ['Edge', 'shop', edge({ name: 'office' })])
  const { rules = [] } = statusOf(stage.world.get('IPPolicy', 'office') as CustomResource) as {
    rules?: { id: string }[]
  }
  stage.world.apply('IPPolicy', 'office', { rulesSource: 'IPPolicyRules' })
  await stage.has(['IPPolicyRule', 'b', rule('10.1.0.0/16')])
  const says = (): boolean => told(stage.world).includes('1 further rule is in force without an IPPolicyRule')
  stage.expect(says(), 'a rule is kept in silence')
  await stage.take('/ip_policy_rules', rules[0]?.id ?? '')
  await stage.world.advance(LOOKS_MS)
  stage.expect(!says(), 'a rule that is gone counts still')
}

/** An edge is about to use a policy, and its spec drops the policy before the edge exists. */
const letsGo =
  (offset: number): Story =>
  async (stage) => {
    const [office, spare] = ['office', 'spare']
    const spec = { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] }
    await stage.has(['IPPolicy', office, spec], ['IPPolicy', spare, spec], ['Edge', 'shop', edge({ name: office })])
    stage.world.apply('Edge', 'shop', edge({ name: spare }))
    await stage.world.advance(offset)
    stage.world.apply('Edge', 'shop', edge({ name: office }))
    stage.world.delete('IPPolicy', spare)
    await stage.world.advance(LOOKS_MS)
    stage.expect(stage.isGone('IPPolicy', spare), 'the policy waits still')
  }

/**
 * The rules of a policy in use whose creates were not answered: they exist at the API, and no status names them yet.
 */
const unnamed =
  (...ranges: readonly string[]): Story =>
  async (stage) => {
    const { world } = stage
    await stage.has(['IPPolicy', 'office', { rulesSource: 'IPPolicyRules' }])
    world.trouble = {
      request: ({ server, method }) =>
        server === 'api' && method === 'POST' ? { type: 'reset', when: 'after' } : undefined,
    }
    for (const [index, range] of ranges.entries()) world.apply('IPPolicyRule', `rule-${index}`, rule(range))
    await world.advance(100)
    const policies = [await stage.idOf('IPPolicy', 'office')]
    const user = await stage.post('/edges/tcp', { ip_restriction: { enabled: true, ip_policy_ids: policies } })
    stage.oracle.allow({ others: new Set([user]) })
    for (const index of ranges.keys()) world.delete('IPPolicyRule', `rule-${index}`)
    world.calm()
    await world.advance(LOOKS_MS)
    for (const index of ranges.keys()) {
      stage.expect(!stage.isGone('IPPolicyRule', `rule-${index}`), 'the last rule is gone')
    }
    await stage.take('/edges/tcp', user)
    await world.advance(LOOKS_MS)
    stage.expect(stage.isGone('IPPolicyRule', 'rule-0'), 'the rule waits still')
  }

const stories: readonly (readonly [point: string, fault: string, story: Story])[] = [
  ['in use', 'the other rule was deleted by hand', otherRuleGone],
  ['declared, in use', 'the other rule was deleted by hand', declaredRuleGone],
  ['of a policy made by hand', 'its user goes', policyByHand],
  ['the first', 'an edge refers to the policy by id', usableById],
  ['declared', 'the policy takes its rules from elsewhere', keptRules],
  ['in use, its create unanswered', 'its user was made by hand', unnamed('10.0.0.0/8')],
  ['in use, both creates unanswered', 'its user was made by hand', unnamed('10.0.0.0/8', '10.1.0.0/16')],
  ...Array.from({ length: 24 }, (_, index) => {
    return [`${2 * index} ms after its user`, 'the user releases it', letsGo(2 * index)] as const
  }),
]

/** Changes by hand, and changes that nobody sees in time. */
export const byHand: readonly Deletion[] = stories.map(([point, fault, story]): Deletion => {
  return {
    what: { write: fault.includes('lets go') ? 'IPPolicy / delete' : 'IPPolicyRule / delete', point, fault },
    run: async (laboratory) => {
      const stage = await Stage.open(laboratory)
      try {
        await story(stage)
        return await stage.end()
      } finally {
        stage.world.down()
      }
    },
  }
})
