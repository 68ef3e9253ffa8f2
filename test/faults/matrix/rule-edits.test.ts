import { test } from 'vitest'
import { DECIDED, withAlternative } from '../../../src/emulator/choices/choices.ts'
import type { Random } from '../../../src/util/random.ts'
import { seededRandom } from '../../builders/seeded-random.ts'
import type { Fault } from '../simulation/faults.ts'
import { Oracle } from '../simulation/oracle.ts'
import { isWrite, Laboratory, type SimulatedWorld } from '../simulation/world.ts'
import { befalls } from '../simulation/writes.ts'
import { CaseList } from '../support/case-list.ts'
import { leastOf, some } from '../support/size.ts'

type Fields = Readonly<Record<string, unknown>>
type Action = 'Allow' | 'Deny'
/** Actions by range. */
type Rules = Readonly<Record<string, Action>>

const ACTIONS = ['Allow', 'Deny'] as const
/** Each contains the next one. */
const NESTED = ['10.0.0.0/8', '10.1.0.0/16', '10.1.1.0/24'] as const
/** Ranges of larger specs, some of them where placeholders would be. */
const RANGES = [
  ...NESTED,
  ...['10.1.1.1/32', '10.128.0.0/9', '0.0.0.0/0', '192.0.2.0/24', '192.0.2.0/31', '198.51.100.0/24'],
  ...['::ffff:a00:0/104', '2001:db8::/32', '2001:db8:1::/48', '::/0'],
]
const READINGS = ['refused', 'admitted'] as const
/** Edits that one world goes through. */
const IN_ONE_WORLD = 15

/** Every spec with at most two rules on the nested ranges. */
const small: readonly Rules[] = [
  {},
  ...NESTED.flatMap((cidr) => ACTIONS.map((action) => ({ [cidr]: action }))),
  ...NESTED.flatMap((one, index) =>
    NESTED.slice(index + 1).flatMap((other) =>
      ACTIONS.flatMap((first) => ACTIONS.map((second) => ({ [one]: first, [other]: second }))),
    ),
  ),
]

/** The operator is killed, or it gets no answer, and the write takes effect later. */
const FAULTS = [
  { type: 'kill', when: 'before' },
  { type: 'kill', when: 'after' },
  { type: 'late', ms: 3_000 },
] as const satisfies readonly Fault[]
type CutFault = (typeof FAULTS)[number]

/** An edit of a policy in use. */
interface RuleEdit {
  readonly before: Rules
  readonly after: Rules
  /** This write of the edit meets a fault, and a third spec follows. */
  readonly cut?: { readonly at: number; readonly fault: CutFault; readonly last: Rules }
}

/** Edits that once opened a policy: played in every run. */
const examples: readonly RuleEdit[] = [
  { before: { '10.1.0.0/16': 'Deny', '10.0.0.0/8': 'Allow' }, after: { '10.1.0.0/16': 'Allow' } },
  { before: { '10.0.0.0/8': 'Allow' }, after: { '10.0.0.0/8': 'Deny', '10.1.0.0/16': 'Allow' } },
  {
    before: { '10.0.0.0/8': 'Allow', '10.1.0.0/16': 'Deny' },
    after: { '10.0.0.0/8': 'Deny', '10.1.0.0/16': 'Allow' },
    cut: { at: 3, fault: FAULTS[1], last: { '10.1.1.0/24': 'Allow', '10.0.0.0/8': 'Deny' } },
  },
]

const edits: readonly RuleEdit[] = [
  ...small.flatMap((before) => small.flatMap((after) => (before === after ? [] : [{ before, after }]))),
  ...Array.from({ length: 600 }, (_, seed) => drawn(seededRandom(seed), seed % 2 === 0)),
]

/** An edit between small specs, or between larger ones, that is cut off. */
function drawn(random: Random, isSmall: boolean): RuleEdit {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random.next() * all.length)] as T
  const large = (): Rules => {
    const count = Math.floor(random.next() * 7)
    return Object.fromEntries(Array.from({ length: count }, () => [pick(RANGES), pick(ACTIONS)]))
  }
  const rules = (): Rules => (isSmall ? pick(small) : large())
  const cut = { at: Math.floor(random.next() * 6), fault: pick(FAULTS), last: rules() }
  return { before: rules(), after: rules(), cut }
}

function specOf(rules: Rules, description: string): Fields {
  return {
    description,
    allowEmpty: true,
    rules: Object.entries(rules).map(([cidr, action]) => ({ cidr, action })),
  }
}

test('an edit of the rules of a policy in use admits nothing that all of its specs refuse', async () => {
  const laboratory = await Laboratory.open()
  const list = new CaseList('edits of rules', 'simulation', { least: leastOf(900) })
  const titled = edits.map((edit) => ({ ...edit, title: `${wordsOf(edit)} | ${faultOf(edit)}` }))
  const chosen = [...examples, ...some(titled, 40)]
  for (const reading of READINGS) {
    const part = chosen.filter((_, index) => READINGS[index % READINGS.length] === reading)
    for (let from = 0; from < part.length; from += IN_ONE_WORLD) {
      await playInOneWorld(laboratory, part.slice(from, from + IN_ONE_WORLD), reading, list)
    }
  }
  await list.end()
})

async function playInOneWorld(
  laboratory: Laboratory,
  part: readonly RuleEdit[],
  reading: (typeof READINGS)[number],
  list: CaseList,
): Promise<void> {
  const choices = withAlternative(DECIDED, { name: 'without-allow', value: reading })
  const world = laboratory.world({ kinds: new Set(['IPPolicy', 'IPRestriction']), choices })
  const oracle = await Oracle.watch(world)
  world.apply('IPPolicy', 'office', specOf({}, 'first'))
  world.apply('IPRestriction', 'endpoints', restriction)
  for (const edit of part) {
    const former = oracle.violations.length
    const unrest = await played(world, oracle, edit)
    const problems = [...unrest, ...oracle.violations.slice(former)]
    list.add({ write: wordsOf(edit), point: reading, fault: faultOf(edit) }, problems)
  }
  const what = { write: 'all of these edits', point: reading, fault: `at rest after ${wordsOf(part.at(-1))}` }
  list.add(what, oracle.violations.length > 0 ? [] : await oracle.judge())
  world.down()
}

const restriction = { type: 'Endpoints', enforcement: 'Enforce', ipPolicyRefs: [{ name: 'office' }] }

/** @returns what is not at rest in the end. */
async function played(world: SimulatedWorld, oracle: Oracle, edit: RuleEdit): Promise<readonly string[]> {
  const { before, after, cut } = edit
  const apply = (rules: Rules, text: string): void => {
    const spec = specOf(rules, text)
    oracle.specChanges('IPPolicy', 'office', spec, [{ allowEmpty: true }])
    world.apply('IPPolicy', 'office', spec)
  }
  apply(before, 'before')
  const unrest = await oracle.untilRest()
  if (cut !== undefined) {
    const trouble = befalls([{ at: cut.at, fault: cut.fault }], (sighting) => {
      return sighting.server === 'api' && isWrite(sighting)
    })
    world.trouble = {
      request: (sighting) => {
        const fault = trouble.request(sighting)
        if (fault !== undefined) world.time.setTimer(1, () => apply(cut.last, 'last'))
        return fault
      },
    }
  }
  apply(after, 'after')
  await oracle.untilRest()
  world.calm()
  return [...unrest, ...(await oracle.untilRest())]
}

function wordsOf({ before, after }: Pick<RuleEdit, 'before' | 'after'> = { before: {}, after: {} }): string {
  return [before, after]
    .map((rules) => {
      const texts = Object.entries(rules).map(([cidr, action]) => `${action} ${cidr}`)
      return texts.length === 0 ? 'no rules' : texts.join(', ')
    })
    .join(' → ')
}

function faultOf({ cut, before }: RuleEdit): string {
  if (cut === undefined) return 'none'
  const { fault, at, last } = cut
  const what = fault.type === 'kill' ? `SIGKILL ${fault.when} write ${at + 1}` : `write ${at + 1} takes effect late`
  return `${what}, and then ${wordsOf({ before, after: last }).split(' → ')[1]}`
}

/** What happens to rules that are resources of their own, by their names: an action, or none where it is deleted. */
type PartEdit = Readonly<Record<string, Action | undefined>>

/** Each rule has a range of its own. */
const PARTS: Readonly<Record<string, string>> = { a: '10.0.0.0/8', b: '10.1.0.0/16', c: '172.16.0.0/12' }
const NAMES = Object.keys(PARTS)
/** Longer than a resource waits between two looks. */
const NEXT_MS = 45_000

test('a policy in use keeps an allow while one of its rules declares one', async () => {
  const laboratory = await Laboratory.open()
  const list = new CaseList('edits of rules of their own', 'simulation', { least: leastOf(40) })
  for (const seed of some(
    Array.from({ length: 40 }, (_, index) => index),
    8,
  )) {
    const random = seededRandom(seed)
    const edits = Array.from({ length: 12 }, () => drawnParts(random))
    const what = { write: `rules of their own, seed ${seed}`, point: 'at every request', fault: 'SIGKILL now and then' }
    list.add(what, await playedParts(laboratory, edits, random))
  }
  await list.end()
})

function drawnParts(random: Random): PartEdit {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random.next() * all.length)] as T
  return Object.fromEntries(
    NAMES.filter(() => random.next() < 0.7).map((name) => [name, pick(['Allow', 'Deny', 'Deny', undefined] as const)]),
  )
}

/** @returns the problems; a deletion that would leave denies alone waits until the policy may be empty. */
async function playedParts(
  laboratory: Laboratory,
  edits: readonly PartEdit[],
  random: Random,
): Promise<readonly string[]> {
  const world = laboratory.world({ kinds: new Set(['IPPolicy', 'IPPolicyRule', 'IPRestriction']) })
  const oracle = await Oracle.watch(world)
  const policy = { rulesSource: 'IPPolicyRules' }
  world.apply('IPPolicy', 'office', policy)
  const apply = (edit: PartEdit): void => {
    for (const [name, action] of Object.entries(edit)) {
      const isGoing = world.get('IPPolicyRule', name)?.metadata.deletionTimestamp !== undefined
      if (action === undefined) world.delete('IPPolicyRule', name)
      else if (!isGoing) {
        world.apply('IPPolicyRule', name, { ipPolicyRef: { name: 'office' }, cidr: PARTS[name], action })
      }
    }
  }
  apply({ a: 'Allow', b: 'Deny' })
  world.apply('IPRestriction', 'endpoints', restriction)
  const problems = [...(await oracle.untilRest())]
  for (const edit of edits) {
    if (random.next() < 0.4) {
      const at = Math.floor(random.next() * 6)
      world.trouble = befalls([{ at, fault: { type: 'kill', when: random.next() < 0.5 ? 'before' : 'after' } }])
    }
    apply(edit)
    await world.advance(random.next() < 0.5 ? NEXT_MS : 100)
    world.calm()
  }
  problems.push(...oracle.violations)
  const open = { ...policy, allowEmpty: true }
  oracle.specChanges('IPPolicy', 'office', open)
  world.apply('IPPolicy', 'office', open)
  problems.push(...(await oracle.judge()))
  world.down()
  return [...new Set(problems)]
}
