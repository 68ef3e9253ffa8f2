import { type CustomResource, isDeleting, statusOf } from '../../../../src/managed/cr.ts'
import { Oracle } from '../../simulation/oracle.ts'
import type { Laboratory, SimulatedWorld } from '../../simulation/world.ts'
import type { Case } from '../../support/case-list.ts'
import { SHARED, type User, users } from './users.ts'

type Fields = Readonly<Record<string, unknown>>

/** A case in which an object is deleted while another comes to use it. */
export interface Deletion {
  readonly what: Case
  readonly run: (laboratory: Laboratory) => Promise<readonly string[]>
}

/**
 * Milliseconds between the arrival of the dependent and the deletion of its dependency: a list of the account takes
 * about four.
 */
const OFFSETS: readonly number[] = [-60, -40, -30, ...Array.from({ length: 41 }, (_, index) => index - 20), 30, 40, 60]
/** Longer than a request lives, and than two lists that must agree take. */
const SETTLED_MS = 20_000
/** A resource that waits for another one is woken when that is deleted, rather than found by the half-minute resync. */
const WOKEN_MS = 5_000

export const kinds: ReadonlySet<string> = new Set(['IPPolicy', 'IPPolicyRule', 'Edge', 'IPRestriction'])
const declared: Fields = { ...SHARED, rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] }
const fromRules: Fields = { ...SHARED, rulesSource: 'IPPolicyRules' }
const rule = (cidr: string): Fields => ({ ipPolicyRef: { name: 'office' }, cidr, action: 'Allow' })

/** The object to delete, and its world beforehand. */
interface Subject {
  readonly title: string
  readonly manifests: readonly (readonly [kind: string, name: string, spec: Fields])[]
  remove(world: SimulatedWorld): void
  /** Whether all of it is gone. */
  isGone(world: SimulatedWorld): boolean
}

const policy: Subject = {
  title: 'IPPolicy',
  manifests: [['IPPolicy', 'office', declared]],
  remove: (world) => world.delete('IPPolicy', 'office'),
  isGone: (world) => world.get('IPPolicy', 'office') === undefined,
}
const lastRule: Subject = {
  title: 'IPPolicyRule, the last',
  manifests: [
    ['IPPolicy', 'office', fromRules],
    ['IPPolicyRule', 'a', rule('10.0.0.0/8')],
  ],
  remove: (world) => world.delete('IPPolicyRule', 'a'),
  isGone: (world) => world.get('IPPolicyRule', 'a') === undefined,
}
const lastTwoRules: Subject = {
  title: 'IPPolicyRule, the last two',
  manifests: [...lastRule.manifests, ['IPPolicyRule', 'b', rule('10.1.0.0/16')]],
  remove: (world) => {
    world.delete('IPPolicyRule', 'a')
    world.delete('IPPolicyRule', 'b')
  },
  isGone: (world) => ['a', 'b'].every((name) => world.get('IPPolicyRule', name) === undefined),
}

/** A new dependent of a policy, of any kind and by any reference, while the policy or its last rule is deleted. */
export const comingUsers: readonly Deletion[] = [policy, lastRule, lastTwoRules].flatMap((subject) => {
  return users.flatMap((user) => {
    // Objects made by hand after a list cannot be known; objects made before the deletion can.
    const each = subject === lastTwoRules ? 3 : 1
    const offsets = OFFSETS.filter((offset, index) => (user.isManaged || offset < 0) && index % each === 0)
    return offsets.map((offset): Deletion => {
      const point = offset < 0 ? `${-offset} ms before the deletion` : `${offset} ms after the deletion`
      const what = { write: `${subject.title} / delete`, point, fault: `${user.title} comes` }
      return { what, run: (laboratory) => comes(laboratory, subject, user, offset) }
    })
  })
})

/** A resource that others wait for is deleted and wakes them. */
export const goingUsers: readonly Deletion[] = [policy, lastRule].flatMap((subject) => {
  return users
    .filter(({ isManaged }) => isManaged)
    .map((user): Deletion => {
      const what = { write: `${subject.title} / delete`, point: 'waits for its user', fault: `${user.title} goes` }
      return { what, run: (laboratory) => comes(laboratory, subject, user, -SETTLED_MS) }
    })
})

/**
 * An edge switches its restriction off, which keeps its settings, and then drops it: its object lets go after its spec.
 */
export const releasingUsers: readonly Deletion[] = users
  .filter(({ kind, isManaged, isElsewhere }) => kind === 'Edge' && isManaged && !isElsewhere)
  .map((user): Deletion => {
    const what = { write: 'IPPolicy / delete', point: 'waits for its user', fault: `${user.title} lets go` }
    return { what, run: (laboratory) => letsGo(laboratory, user) }
  })

async function letsGo(laboratory: Laboratory, user: User): Promise<readonly string[]> {
  const { world, oracle, policyId, unrest } = await begin(laboratory, policy, user)
  if (unrest.length > 0) return unrest
  try {
    await user.make(world, policyId)
    const problems = [...(await oracle.untilRest())]
    const { ipRestriction, ...bare } = (user.find(world) as CustomResource).spec as Fields
    world.apply('Edge', 'user', { ...bare, ipRestriction: { ...(ipRestriction as Fields), enabled: false } })
    problems.push(...(await oracle.untilRest()))
    policy.remove(world)
    await world.advance(SETTLED_MS)
    if (policy.isGone(world)) problems.push('it is gone while the edge keeps its settings')
    world.apply('Edge', 'user', bare)
    await world.advance(WOKEN_MS)
    if (!policy.isGone(world)) problems.push(`it waits still: ${told(world)}`)
    world.delete('Edge', 'user')
    return [...problems, ...(await oracle.judge({}))]
  } finally {
    world.down()
  }
}

async function comes(laboratory: Laboratory, subject: Subject, user: User, offset: number): Promise<readonly string[]> {
  const { world, oracle, policyId, unrest } = await begin(laboratory, subject, user)
  if (unrest.length > 0) return unrest
  const problems = watchUse(world, oracle)
  try {
    if (offset < 0) {
      await user.make(world, policyId)
      await world.advance(-offset)
      subject.remove(world)
    } else {
      subject.remove(world)
      await world.advance(offset)
      await user.make(world, policyId)
    }
    await world.advance(SETTLED_MS)
    problems.push(...waitForEachOther(world, user))
    if (!subject.isGone(world)) {
      await user.remove(world)
      // An object without a CR wakes nobody.
      await world.advance(user.isManaged ? WOKEN_MS : 2 * SETTLED_MS)
      if (!subject.isGone(world)) problems.push(`it waits still: ${told(world)}`)
    }
    // A dependent that came too late, or still exists, gets everything back.
    await user.remove(world)
    await world.advance(SETTLED_MS)
    for (const [kind, name, spec] of subject.manifests) world.apply(kind, name, spec)
    problems.push(...(await oracle.untilRest()))
    for (const [kind, name, spec] of subject.manifests) world.apply(kind, name, { ...spec, description: 'edited' })
    problems.push(...(await oracle.judge()))
    for (const { kind, metadata } of world.all()) world.delete(kind, metadata.name)
    return [...problems, ...(await oracle.judge({}))]
  } finally {
    world.down()
  }
}

async function begin(laboratory: Laboratory, subject: Subject, user: User) {
  const world = laboratory.world({ kinds })
  user.prepare(world)
  const oracle = await Oracle.watch(world)
  for (const [kind, name, spec] of subject.manifests) world.apply(kind, name, spec)
  const unrest = await oracle.untilRest()
  await world.advance(5_000)
  const policyId = statusOf(world.get('IPPolicy', 'office') as CustomResource).id ?? ''
  return { world, oracle, policyId, unrest }
}

/** Records references, at any moment, to a policy that does not exist, or has no rules although no spec allows that. */
export function watchUse(world: SimulatedWorld, oracle: Oracle): string[] {
  const problems: string[] = []
  const { onDone } = world.network
  world.network.onDone = async (sighting, answer) => {
    await onDone(sighting, answer)
    if (sighting.server !== 'api' || sighting.method === 'GET' || answer.status >= 300) return
    const { accounts } = world.api.emulator.admin.snapshot()
    const stored = Object.assign({}, ...Object.values(accounts).map(({ objects }) => objects)) as Stored
    const [policies = [], rules = []] = [stored.ip_policies, stored.ip_policy_rules]
    for (const id of [...(stored['edges/tcp'] ?? []), ...(stored.ip_restrictions ?? [])].flatMap(policiesOf)) {
      if (!policies.some((each) => each.id === id)) problems.push(`${id} is in use and gone`)
      else if (!rules.some((each) => JSON.stringify(each).includes(id)) && !oracle.isEmptied(id)) {
        problems.push(`${id} is in use without a rule`)
      }
    }
  }
  return problems
}

type Stored = Readonly<Record<string, readonly Fields[] | undefined>>

function policiesOf(object: Fields): readonly string[] {
  return JSON.stringify(object).match(/ipp_[0-9A-Za-z]{27}/g) ?? []
}

/** A dependent without an object waits for its dependency to be deleted, which waits for no other. */
function waitForEachOther(world: SimulatedWorld, user: User): readonly string[] {
  const waiting = user.find(world)
  if (waiting === undefined || statusOf(waiting).id !== undefined) return []
  const held = world.get('IPPolicy', 'office')
  const isHeldUp = held !== undefined && isDeleting(held)
  return isHeldUp ? [`the two wait for each other: ${told(world)}`] : []
}

export function told(world: SimulatedWorld): string {
  return world
    .all()
    .map(
      (cr) =>
        `${cr.kind}/${cr.metadata.name}: ${statusOf(cr)
          .conditions?.map(({ message }) => message)
          .join(' | ')}`,
    )
    .join('; ')
}
