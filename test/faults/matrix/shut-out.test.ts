import { test } from 'vitest'
import { DECIDED, withAlternative } from '../../../src/emulator/choices/choices.ts'
import { ELSEWHERE } from '../simulation/api-server.ts'
import { Oracle } from '../simulation/oracle.ts'
import { Laboratory, type SimulatedWorld } from '../simulation/world.ts'
import { CaseList } from '../support/case-list.ts'
import { leastOf } from '../support/size.ts'

type Fields = Readonly<Record<string, unknown>>

const KINDS = new Set(['IPPolicy', 'IPPolicyRule', 'IPRestriction', 'Backend'])
/** Addresses of the operator, and of others. */
const OURS = { cidr: '127.0.0.0/8', action: 'Allow' }
const OTHERS = { cidr: `${ELSEWHERE}/32`, action: 'Allow' }
const DENIED = { cidr: '198.51.100.0/24', action: 'Deny' }
const ACKNOWLEDGED = { acknowledgeAPIRestriction: true }
/** Names of the first rules. */
const NAMES = ['ours', 'others']
/** Two resyncs of the account. */
const LOOKS_MS = 130_000

const rule = (fields: Fields): Fields => ({ ipPolicyRef: { name: 'office' }, ...fields })

/** A change of what decides who may call the API, and whether it allows fewer addresses. */
interface Change {
  readonly title: string
  /** Whether the rules are resources of their own. */
  readonly fromRules: boolean
  readonly narrows: boolean
  /** Whether it really shuts the operator out. */
  readonly shutsOut: boolean
  /** The rules before it. */
  readonly before: readonly Fields[]
  /** The service admits everybody as long as no rule allows anything. */
  readonly isOpenAtFirst: boolean
  readonly act: (world: SimulatedWorld, more: Fields) => void
}

const changes: readonly Change[] = [
  change('a rule goes', false, true, (world, more) => world.apply('IPPolicy', 'office', { rules: [OTHERS], ...more })),
  change('a rule turns to deny', false, true, (world, more) =>
    world.apply('IPPolicy', 'office', { rules: [{ ...OURS, action: 'Deny' }, OTHERS], ...more }),
  ),
  change('a deny comes', false, true, (world, more) =>
    world.apply('IPPolicy', 'office', { rules: [OURS, OTHERS, { cidr: '127.0.0.1/32', action: 'Deny' }], ...more }),
  ),
  change('an allow comes', false, false, (world, more) =>
    world.apply('IPPolicy', 'office', { rules: [OURS, OTHERS, { cidr: '10.0.0.0/8', action: 'Allow' }], ...more }),
  ),
  change('a text changes', false, false, (world, more) =>
    world.apply('IPPolicy', 'office', { rules: [{ ...OURS, description: 'us' }, OTHERS], ...more }),
  ),
  change('a rule is deleted', true, true, (world, more) => {
    world.apply('IPPolicyRule', 'ours', rule({ ...OURS, ...more }))
    world.delete('IPPolicyRule', 'ours')
  }),
  change('a range moves', true, true, (world, more) =>
    world.apply('IPPolicyRule', 'ours', rule({ ...OURS, cidr: '127.0.0.2/32', ...more })),
  ),
  change('a rule is replaced by a deny', true, true, (world, more) =>
    world.apply('IPPolicyRule', 'ours', rule({ ...OURS, action: 'Deny', ...more })),
  ),
  change('a rule with deny is made', true, true, (world, more) =>
    world.apply('IPPolicyRule', 'late', rule({ cidr: '127.0.0.1/32', action: 'Deny', ...more })),
  ),
  change('a rule with allow is made', true, false, (world, more) =>
    world.apply('IPPolicyRule', 'late', rule({ cidr: '10.0.0.0/8', action: 'Allow', ...more })),
  ),
]

/** Where a policy without any rule that allows something admits everybody, as the contract leaves open. */
const openChanges: readonly Change[] = [
  fromOpen('the first allow comes next to a deny', [DENIED], (world, more) =>
    world.apply('IPPolicy', 'office', { rules: [DENIED, OTHERS], ...more }),
  ),
  fromOpen('the first rule comes', [], (world, more) =>
    world.apply('IPPolicy', 'office', { rules: [OTHERS], allowEmpty: true, ...more }),
  ),
  {
    ...fromOpen('the last deny goes', [DENIED], (world, more) =>
      world.apply('IPPolicy', 'office', { rules: [], allowEmpty: true, ...more }),
    ),
    shutsOut: false,
  },
  {
    ...fromOpen('the first rule with allow is made', [DENIED], (world, more) =>
      world.apply('IPPolicyRule', 'late', rule({ ...OTHERS, ...more })),
    ),
    fromRules: true,
  },
]

function change(title: string, fromRules: boolean, narrows: boolean, act: Change['act']): Change {
  return { title, fromRules, narrows, act, shutsOut: narrows, before: [OURS, OTHERS], isOpenAtFirst: false }
}

function fromOpen(title: string, before: readonly Fields[], act: Change['act']): Change {
  return { ...change(title, false, true, act), before, isOpenAtFirst: true }
}

function worldOf(laboratory: Laboratory, { isOpenAtFirst }: Change): SimulatedWorld {
  const choices = withAlternative(DECIDED, { name: 'without-allow', value: 'admitted' })
  return laboratory.world({ kinds: KINDS, ...(isOpenAtFirst ? { choices } : {}) })
}

test('an edit of the rules of an enforced API restriction cannot lock the operator out unacknowledged', async () => {
  const laboratory = await Laboratory.open()
  const list = new CaseList('shut out', 'simulation', { least: leastOf(66) })
  for (const each of [...changes, ...openChanges]) {
    const enforced = [
      ['enforced', { type: 'API', enforcement: 'Enforce', ...ACKNOWLEDGED }],
      ['enforced by a restriction made by hand', undefined],
      ['only warned of', { type: 'API', enforcement: 'Warn' }],
      ['enforced for something else', { type: 'Agent', enforcement: 'Enforce' }],
    ] as const
    for (const [point, restriction] of enforced) {
      const isHeld = point.startsWith('enforced') && !point.endsWith('else')
      const what = { write: each.title, point, fault: 'no acknowledgement' }
      list.add(what, await played(laboratory, each, restriction, isHeld && each.narrows))
    }
    if (each.shutsOut) {
      const what = { write: each.title, point: 'enforced', fault: 'acknowledged by mistake, and reverted' }
      list.add(what, await shutOut(laboratory, each))
    }
  }
  await list.end()
})

/** @returns the problems after the change. */
async function played(
  laboratory: Laboratory,
  change: Change,
  restriction: Fields | undefined,
  isRefused: boolean,
): Promise<readonly string[]> {
  const world = worldOf(laboratory, change)
  try {
    const oracle = await Oracle.watch(world)
    const problems = [...(await begun(world, oracle, change, restriction))]
    if (problems.length > 0) return problems
    change.act(world, {})
    await world.advance(LOOKS_MS)
    const changed = world.all().filter((cr) => {
      return [...(cr.status?.conditions ?? [])].some(({ reason, status, message }) => {
        return (
          status === 'False' &&
          ['InvalidSpec', 'Deleting'].includes(reason) &&
          message.includes('rules on the API itself')
        )
      })
    })
    if (changed.length !== (isRefused ? 1 : 0)) problems.push(`${changed.length} resources say that it is refused`)
    if (!isOpen(world)) problems.push('the operator is shut out')
    if (!isRefused) problems.push(...(await oracle.untilRest()), ...(await oracle.unlikeDeclared()))
    return [...problems, ...oracle.violations]
  } finally {
    world.down()
  }
}

/**
 * The operator is locked out anyway: every resource says why and what helps, and once its address is admitted again,
 * the reverted spec is applied.
 */
async function shutOut(laboratory: Laboratory, change: Change): Promise<readonly string[]> {
  const world = worldOf(laboratory, change)
  try {
    const oracle = await Oracle.watch(world)
    const problems = [...(await begun(world, oracle, change, { type: 'API', enforcement: 'Enforce', ...ACKNOWLEDGED }))]
    if (problems.length > 0) return problems
    change.act(world, ACKNOWLEDGED)
    await world.advance(LOOKS_MS)
    if (isOpen(world)) return ['an acknowledged change was not made']
    const lacking = [world.account, ...world.all()].filter((cr) => {
      const told = JSON.stringify(cr?.status)
      return !told.includes('IPRestriction/api') || told.includes('put a valid API key')
    })
    problems.push(...lacking.map((cr) => `${cr?.kind}/${cr?.metadata.name} does not say why`))
    // The spec is restored; deleted objects are gone once the operator gets through.
    if (!change.fromRules)
      world.apply('IPPolicy', 'office', { rules: change.before, ...emptyIf(change.before), ...ACKNOWLEDGED })
    else for (const { metadata, kind } of world.all()) if (kind === 'IPRestriction') revert(world, metadata.name)
    await world.advance(LOOKS_MS)
    if (isOpen(world)) return [...problems, 'it got through although it was shut out']
    await open(world, world.get('IPRestriction', 'api')?.status?.id)
    await world.advance(LOOKS_MS)
    if (!isOpen(world)) problems.push('it is shut out still, with its address admitted')
    problems.push(...(await oracle.untilRest()), ...(await oracle.unlikeDeclared()))
    return [...problems, ...oracle.violations]
  } finally {
    world.down()
  }
}

async function begun(
  world: SimulatedWorld,
  oracle: Oracle,
  { fromRules, before }: Change,
  restriction: Fields | undefined,
): Promise<readonly string[]> {
  world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: {} })
  world.apply(
    'IPPolicy',
    'office',
    fromRules ? { rulesSource: 'IPPolicyRules' } : { rules: before, ...emptyIf(before) },
  )
  if (fromRules) {
    for (const [index, each] of before.entries()) world.apply('IPPolicyRule', NAMES[index] ?? '', rule(each))
  }
  if (restriction !== undefined) {
    world.apply('IPRestriction', 'api', { ipPolicyRefs: [{ name: 'office' }], ...restriction })
    return await oracle.untilRest()
  }
  const unrest = await oracle.untilRest()
  const policy = world.get('IPPolicy', 'office')?.status?.id
  await world.api.ask('POST', '/ip_restrictions', { type: 'api', enforced: true, ip_policy_ids: [policy] })
  return unrest
}

function emptyIf({ length }: readonly Fields[]): Fields {
  return length === 0 ? { allowEmpty: true } : {}
}

function isOpen({ account }: SimulatedWorld): boolean {
  return account?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
}

function revert(world: SimulatedWorld, name: string): void {
  world.apply('IPRestriction', name, { type: 'API', enforcement: 'Warn', ipPolicyRefs: [{ name: 'office' }] })
}

/** Disables the restriction from an address that is admitted. */
async function open({ api }: SimulatedWorld, id: string | undefined): Promise<void> {
  await api.ask('PATCH', `/ip_restrictions/${id}`, { enforced: false })
}
