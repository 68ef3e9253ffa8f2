import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cidr } from '../../../src/emulator/fields/cidr.ts'
import { admits, type IpRule, RuleSet } from '../../../src/emulator/restrictions/rule-set.ts'

/** An address as a text of bits, of few different ones, so that ranges and addresses often match. */
const bits = (width: 32 | 128): fc.Arbitrary<string> =>
  fc
    .tuple(fc.string({ unit: fc.constantFrom('0', '1'), minLength: 4, maxLength: 4 }), fc.constantFrom('0', '1'))
    .map(([head, fill]) => head.padEnd(width - 2, fill))
    .chain((start) => fc.constantFrom('00', '01', '10', '11').map((end) => start + end))

/** The bits as an address; no IPv6 address is mapped from IPv4, since its first four bits are repeated to the end. */
function written(address: string): string {
  const groups = address.match(address.length === 32 ? /.{8}/g : /.{16}/g) ?? []
  return address.length === 32
    ? groups.map((group) => Number.parseInt(group, 2)).join('.')
    : groups.map((group) => Number.parseInt(group, 2).toString(16)).join(':')
}

interface ModelRule {
  readonly prefix: string
  readonly width: number
  readonly action: IpRule['action']
}

const address = fc.constantFrom<32 | 128>(32, 128).chain(bits)
const modelRule: fc.Arbitrary<ModelRule> = fc
  .record({ of: address, length: fc.oneof(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 26, max: 128 })) })
  .chain(({ of, length }) =>
    fc
      .constantFrom<IpRule['action']>('allow', 'deny')
      .map((action) => ({ prefix: of.slice(0, length), width: of.length, action })),
  )

function ruleOf({ prefix, width, action }: ModelRule): IpRule {
  return { cidr: cidr(`${written(prefix.padEnd(width, '0'))}/${prefix.length}`, 'cidr'), action }
}

/** The rule in words: a matching deny refuses, else a matching allow admits, else refused. */
function modelAdmits(rules: readonly ModelRule[], source: string): boolean {
  const matching = rules.filter(({ prefix, width }) => width === source.length && source.startsWith(prefix))
  if (matching.some(({ action }) => action === 'deny')) return false
  return matching.some(({ action }) => action === 'allow')
}

it('admits what the rule in words admits, whatever the rules, their order, the family and the policies they stand in', () => {
  const seen = new Set<boolean>()
  fc.assert(
    fc.property(
      fc.array(fc.array(modelRule, { maxLength: 4 }), { maxLength: 3 }),
      fc.array(address, { minLength: 1, maxLength: 8 }),
      (policies, from) => {
        const sets = policies.map((rules) => new RuleSet(rules.map(ruleOf)))
        for (const source of from) {
          const expected = modelAdmits(policies.flat(), source)
          seen.add(expected)
          expect(admits(sets, written(source))).toBe(expected)
          if (source.length === 32) expect(admits(sets, `::ffff:${written(source)}`)).toBe(expected)
        }
      },
    ),
    { numRuns: 500 },
  )
  expect(seen.size).toBe(2)
})

it('admits nothing without rules, and no text that is not an address', () => {
  expect(admits([], '127.0.0.1')).toBe(false)
  expect(admits([new RuleSet([])], '127.0.0.1')).toBe(false)
  const everything = new RuleSet([
    { cidr: '0.0.0.0/0', action: 'allow' },
    { cidr: '::/0', action: 'allow' },
  ])
  for (const source of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) expect(admits([everything], source)).toBe(true)
  for (const source of ['', '127.1', 'fe80::1%eth0', 'localhost']) expect(admits([everything], source)).toBe(false)
})

it('takes a range of mapped addresses for the IPv4 range in it', () => {
  const mapped = new RuleSet([{ cidr: '::ffff:10.0.0.0/104', action: 'allow' }])
  expect(['10.255.0.1', '::ffff:10.0.0.1'].map((source) => admits([mapped], source))).toEqual([true, true])
  expect(['11.0.0.1', '::a00:1'].map((source) => admits([mapped], source))).toEqual([false, false])
})
