import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ChildOperation } from '../../../src/managed/descriptor/desired.ts'
import {
  type Address,
  type AddressRule,
  addressesAround,
  isAdmitted,
  type Standing,
  standingOf,
  textOf,
} from '../../builders/ip-addresses.ts'
import {
  modelWith,
  type PolicyModel,
  policySpec,
  type RuleSet,
  settleRules,
} from '../../builders/kinds/ip-policy-model.ts'

/** Each contains the next one. */
const NESTED = ['10.0.0.0/8', '10.1.0.0/16', '10.1.1.0/24'] as const
const ACTIONS = ['Allow', 'Deny'] as const
const READINGS = ['refused', 'admitted'] as const
/** Policies that an edge may have next to the one that changes: none, one that allows, one that refuses, and both. */
const BESIDE: readonly (readonly (readonly AddressRule[])[])[] = [
  [],
  [[{ cidr: '10.1.0.0/17', action: 'Allow' }]],
  [[{ cidr: '10.1.1.128/25', action: 'Deny' }]],
  [[{ cidr: '0.0.0.0/0', action: 'Allow' }], [{ cidr: '10.1.1.0/25', action: 'Deny' }]],
]

/** Every spec with at most two rules on the nested ranges. */
const small: readonly RuleSet[] = [
  {},
  ...NESTED.flatMap((cidr) => ACTIONS.map((action) => ({ [cidr]: action }))),
  ...NESTED.flatMap((one, index) =>
    NESTED.slice(index + 1).flatMap((other) =>
      ACTIONS.flatMap((first) => ACTIONS.map((second) => ({ [one]: first, [other]: second }))),
    ),
  ),
]

const rulesOf = (rules: RuleSet): readonly AddressRule[] => policySpec(rules).rules ?? []

class Admitted extends Error {}

/** Judges a policy after each write: nothing is admitted that all of these specs refuse. */
class Judge {
  readonly #specs: readonly (readonly AddressRule[])[]
  readonly #model: PolicyModel

  constructor(model: PolicyModel, specs: readonly (readonly AddressRule[])[]) {
    this.#model = model
    this.#specs = specs
  }

  readonly look = (): void => {
    const held = this.#model.rules
    for (const address of addressesAround([...this.#specs, held, ...BESIDE.flat()].flat())) {
      const now = standingOf(held, address)
      const declared = this.#specs.map((rules) => standingOf(rules, address))
      for (const beside of BESIDE) {
        const others = beside.map((rules) => standingOf(rules, address))
        const isSafe = READINGS.every((reading) => {
          const admits = (own: Standing): boolean => isAdmitted([own, ...others], reading)
          return !admits(now) || declared.some(admits)
        })
        if (!isSafe) this.#tell(held, beside, address)
      }
    }
  }

  #tell(held: readonly AddressRule[], beside: readonly (readonly AddressRule[])[], address: Address): never {
    const shown = [...this.#specs, held].map((rules) => rules.map(({ cidr, action }) => `${action} ${cidr}`).join(', '))
    throw new Admitted(`${textOf(address)} is admitted next to ${JSON.stringify(beside)}: ${shown.join(' | ')}`)
  }
}

function expectAtRest(model: PolicyModel, rules: RuleSet): void {
  expect(textsOf(model.rules)).toEqual(textsOf(rulesOf(rules)))
}

function textsOf(rules: readonly AddressRule[]): readonly string[] {
  return rules.map(({ cidr, action }) => `${action.toLowerCase()} ${cidr}`).toSorted()
}

/** How many writes lead from one set of rules to another. */
function writesBetween(before: RuleSet, after: RuleSet): number {
  const model = modelWith(before)
  let writes = 0
  settleRules(policySpec(after), model, () => {
    writes += 1
  })
  return writes
}

test.each([
  [{ '10.1.0.0/16': 'Deny', '10.0.0.0/8': 'Allow' }, { '10.1.0.0/16': 'Allow' }],
  [{ '10.0.0.0/8': 'Allow' }, { '10.0.0.0/8': 'Deny', '172.16.0.0/12': 'Allow' }],
  [
    { '10.0.0.0/8': 'Allow', '10.1.0.0/16': 'Deny' },
    { '10.0.0.0/8': 'Deny', '10.1.0.0/16': 'Allow' },
  ],
] as const)('nothing is admitted that the rules before and after an edit refuse: %j to %j', (before, after) => {
  const model = modelWith(before)
  settleRules(policySpec(after), model, new Judge(model, [before, after].map(rulesOf)).look)
  expectAtRest(model, after)
})

test('between any two specs of at most two rules on nested ranges nothing is admitted that both refuse', () => {
  for (const before of small) {
    for (const after of small) {
      for (const isReversed of [false, true]) {
        const model = modelWith(before)
        settleRules(policySpec(after), model, new Judge(model, [before, after].map(rulesOf)).look, { isReversed })
        expectAtRest(model, after)
      }
    }
  }
})

test('the same holds for an operator that dies after any write, and finds another spec then', () => {
  // What it left admits no more than one of both specs, as the test above shows: so each state is continued once.
  const left = new Map<string, PolicyModel>()
  for (const before of small) {
    for (const after of small) {
      const writes = writesBetween(before, after)
      for (let steps = 1; steps < writes; steps += 1) {
        const model = modelWith(before)
        settleRules(policySpec(after), model, () => undefined, { steps })
        left.set(JSON.stringify(textsOf(model.rules)), model)
      }
    }
  }
  expect(left.size).toBeGreaterThan(40)
  for (const found of left.values()) {
    for (const last of small) {
      const model = found.copy()
      settleRules(policySpec(last), model, new Judge(model, [found.rules, rulesOf(last)]).look)
      expectAtRest(model, last)
    }
  }
})

/** The steps of a plan, in their order. */
const STEPS = [
  'new denies',
  'new allows',
  'placeholders',
  'denies that replace an allow',
  'allows that replace a deny',
  'other allows go',
  'other denies go',
] as const

/** The step that an operation belongs to. */
function stepOf(operation: ChildOperation, plan: readonly ChildOperation[], model: PolicyModel): number {
  if (operation.type === 'update') return STEPS.length
  const ruleOf = (each: ChildOperation): AddressRule | undefined => {
    if (each.type === 'delete') return model.rules.find(({ id }) => id === each.id)
    return each.type === 'create' ? (each.body as unknown as AddressRule) : undefined
  }
  const { cidr, action } = ruleOf(operation) ?? { cidr: '', action: '' }
  if (operation.type === 'create' && operation.placeholder) return STEPS.indexOf('placeholders')
  const isAllow = action === 'allow'
  const isSwap = plan.some((each) => each.type !== operation.type && ruleOf(each)?.cidr === cidr)
  if (isSwap) return isAllow === (operation.type === 'create') ? 4 : 3
  if (operation.type === 'create') return isAllow ? 1 : 0
  return isAllow ? 5 : 6
}

test.each([
  ['new denies', 'new allows'],
  ['new allows', 'other allows go'],
  ['placeholders', 'denies that replace an allow'],
  ['denies that replace an allow', 'allows that replace a deny'],
  ['allows that replace a deny', 'other allows go'],
  ['other allows go', 'other denies go'],
] as const)('the judge notices that "%s" and "%s" are swapped', (one, other) => {
  const [first, second] = [STEPS.indexOf(one), STEPS.indexOf(other)]
  const swapped = STEPS.map((_, step) => (step === first ? second : step === second ? first : step))
  const noticed = small.some((before) => {
    return small.some((after) => {
      const model = modelWith(before)
      const arrange = (plan: readonly ChildOperation[]): readonly ChildOperation[] => {
        const rankOf = (each: ChildOperation): number => swapped[stepOf(each, plan, model)] ?? STEPS.length
        return plan.toSorted((left, right) => rankOf(left) - rankOf(right))
      }
      try {
        settleRules(policySpec(after), model, new Judge(model, [before, after].map(rulesOf)).look, { arrange })
        return false
      } catch (error) {
        return error instanceof Admitted
      }
    })
  })
  expect(noticed).toBe(true)
})

const larger: fc.Arbitrary<RuleSet> = fc.dictionary(
  fc.constantFrom(
    ...[...NESTED, '10.1.1.1/32', '10.128.0.0/9', '172.16.0.0/12', '0.0.0.0/0', '192.0.2.0/24', '192.0.2.0/31'],
    ...['198.51.100.0/24', '::ffff:a00:0/104', '2001:db8::/32', '2001:db8:1::/48', '::/0'],
  ),
  fc.constantFrom(...ACTIONS),
  { maxKeys: 10 },
)

test('the same holds between larger specs, over any number of kills and edits', () => {
  fc.assert(
    fc.property(larger, fc.array(fc.tuple(larger, fc.nat(12)), { maxLength: 3 }), larger, (first, between, last) => {
      const model = modelWith(first)
      const specs = [first]
      for (const [rules, steps] of between) {
        specs.push(rules)
        const isDone = settleRules(policySpec(rules), model, new Judge(model, specs.map(rulesOf)).look, { steps })
        if (isDone) specs.splice(0, specs.length, rules)
      }
      settleRules(policySpec(last), model, new Judge(model, [...specs, last].map(rulesOf)).look)
      expectAtRest(model, last)
    }),
    { numRuns: 300 },
  )
})
