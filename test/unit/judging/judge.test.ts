import { describe, expect, test } from 'vitest'
import { judge, otherReadings, verdictOf } from '../../../src/judging/judge.ts'
import {
  type Asked,
  type Backend,
  DECIDED,
  type Edge,
  type IpRule,
  type Known,
  type Read,
  type World,
} from '../../../src/judging/world.ts'
import { selfSigned } from '../../builders/certificate.ts'

const UNKNOWN = { unknown: 'the account was not read' }
const asked: Asked = { source: '203.0.113.7', version: '1.3', at: Date.parse('2026-11-30T00:00:00Z') }

function read<T>(value: T, name = 'Edge/shop'): Read<T> {
  return { value, source: { name } }
}

const group = (online: Known<number>): Known<Backend> =>
  read({ type: 'group', tunnels: online, sessions: [] }, 'Backend/web')
const allow = (cidr: string, id = 'ipr_allow'): Read<IpRule> => read({ id, cidr, action: 'allow' }, 'IPPolicy/office')
const deny = (cidr: string): Read<IpRule> => read({ id: 'ipr_deny', cidr, action: 'deny' }, 'IPPolicy/office')

function policiesOf(rules: Readonly<Record<string, readonly Known<IpRule>[]>>): World['policies'] {
  return new Map(Object.entries(rules).map(([id, value]) => [id, read(value, 'IPPolicy/office')]))
}

interface Given extends Partial<Omit<World, 'edge'>> {
  readonly edge?: Partial<Edge>
}

/** An edge that admits everyone, with one change. */
function worldWith({ edge = {}, ...rest }: Given = {}): World {
  return {
    edge: read({ protocol: 'tls', host: 'shop.example.com', port: 443, backend: 'b_web', ...edge }),
    restrictions: [],
    policies: new Map(),
    authorities: new Map(),
    certificate: read(true, 'ReservedDomain/shop'),
    backends: new Map([['b_web', group(read(2))]]),
    ...rest,
  }
}

/** The verdict, and the first step that does not pass. */
function decided(world: World, question: Partial<Asked> = {}, choices = DECIDED): readonly (string | undefined)[] {
  const steps = judge(world, { ...asked, ...question }, choices)
  return [verdictOf(steps), steps.find(({ outcome }) => outcome !== 'passes')?.kind]
}

const restricted = { edge: { policies: ['ipp_office'] } }

test('a connection that every step admits is admitted', () => {
  const steps = judge(worldWith(), asked)
  expect(verdictOf(steps)).toBe('admitted')
  expect(steps.map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual([
    'edge passes',
    'restrictions passes',
    'ip-policies passes',
    'traffic-policy passes',
    'certificate passes',
    'version passes',
    'client-certificate passes',
    'backend passes',
  ])
})

describe('what is unknown', () => {
  test('makes the verdict unknown, and is named', () => {
    const steps = judge(worldWith({ restrictions: [UNKNOWN] }), asked)
    expect(verdictOf(steps)).toBe('unknown')
    expect(steps.find(({ outcome }) => outcome === 'unknown')).toMatchObject({
      kind: 'restrictions',
      text: UNKNOWN.unknown,
    })
  })

  test('does not matter where a later step refuses', () => {
    const world = worldWith({ restrictions: [UNKNOWN], backends: new Map([['b_web', group(read(0))]]) })
    expect(verdictOf(judge(world, asked))).toBe('refused')
  })

  test.each<[string, readonly Known<IpRule>[], string]>([
    ['a matching deny refuses', [deny('203.0.113.0/24'), UNKNOWN], 'refused'],
    ['a matching allow is not enough', [allow('203.0.113.0/24'), UNKNOWN], 'unknown'],
    ['no match is not enough', [allow('10.0.0.0/8'), UNKNOWN], 'unknown'],
  ])('among rules: %s', (_, rules, verdict) => {
    expect(decided(worldWith({ ...restricted, policies: policiesOf({ ipp_office: rules }) }))[0]).toBe(verdict)
  })

  test('about the edge leaves only what holds for the account', () => {
    const restriction = read({ id: 'ipx_1', isEnforced: true, policies: [] })
    expect(decided({ ...worldWith({ restrictions: [restriction] }), edge: UNKNOWN })).toEqual(['refused', 'edge'])
    expect(decided({ ...worldWith(), edge: UNKNOWN })).toEqual(['unknown', 'edge'])
  })

  test('about an authority does not matter where another has issued the certificate', () => {
    const { cert } = selfSigned()
    const edge = { authorities: ['ca_unknown'] }
    const authorities = new Map<string, Known<string>>([['ca_unknown', UNKNOWN]])
    expect(decided(worldWith({ edge, authorities }), { certificate: cert })).toEqual(['unknown', 'client-certificate'])
    expect(decided(worldWith({ edge, authorities }))).toEqual(['refused', 'client-certificate'])
  })

  test('of a source port matters only to expressions about it', () => {
    const rule = (expression: string): Given => {
      return { edge: { trafficRules: [{ expressions: [expression], actions: ['deny'] }] } }
    }
    expect(decided(worldWith(rule('conn.client_port < 1024')))).toEqual(['unknown', 'traffic-policy'])
    expect(decided(worldWith(rule("conn.client_ip == '198.51.100.1'")))).toEqual(['admitted', undefined])
  })
})

test('where the first refusal depends on the order, the step says so', () => {
  const restriction = read({ id: 'ipx_1', isEnforced: true, policies: ['ipp_office'] }, 'ipx_1')
  const world = worldWith({
    ...restricted,
    restrictions: [restriction],
    policies: policiesOf({ ipp_office: [deny('0.0.0.0/0')] }),
  })
  const [, step, next] = judge(world, asked)
  expect(step).toMatchObject({ kind: 'restrictions', outcome: 'refuses', rule: 'ipx_1' })
  expect(step?.details?.join()).toContain('ip-policies')
  expect(next).toMatchObject({ kind: 'ip-policies', outcome: 'not-reached' })
  const edgeFirst = { ...DECIDED, 'judging-order': 'edge-first' } as const
  expect(decided(world, {}, edgeFirst)).toEqual(['refused', 'ip-policies'])
})

test('readings under which the verdict is another are listed', () => {
  const policies = policiesOf({ ipp_office: [allow('203.0.113.0/24')], ipp_home: [allow('10.0.0.0/8')] })
  const world = worldWith({ edge: { policies: ['ipp_office', 'ipp_home'] }, policies })
  expect(decided(world)).toEqual(['admitted', undefined])
  expect(otherReadings(world, asked)).toEqual(['several-policies=each'])
})

test('what belongs to others is shown by its effect alone', () => {
  const source = { name: 'an IPPolicy that you may not see', isHidden: true } as const
  const rules = [{ ...deny('203.0.113.0/24'), source }]
  const steps = judge(worldWith({ ...restricted, policies: policiesOf({ ipp_office: rules }) }), asked)
  const shown = JSON.stringify(steps)
  expect(shown).toContain('a rule of an IPPolicy that you may not see')
  expect(shown).not.toMatch(/ipr_deny|203\.0\.113\.0/)
})

describe('a backend', () => {
  const weighted = (weights: readonly number[], type: 'weighted' | 'failover' = 'weighted'): World['backends'] => {
    const ids = ['b_on', 'b_off', 'b_unknown']
    const children = weights.map((weight, index) => [ids[index] ?? '', weight] as const)
    const top: Backend = type === 'weighted' ? { type, children } : { type, children: children.map(([id]) => id) }
    return new Map([
      ['b_web', read(top, 'Backend/web')],
      ['b_on', group(read(3))],
      ['b_off', group(read(0))],
      ['b_unknown', group(UNKNOWN)],
    ])
  }

  test.each<[string, World['backends'], string, 'others' | 'none']>([
    ['falls back on another child', weighted([10, 90]), 'admitted', 'others'],
    ['may draw a child without tunnels', weighted([10, 90]), 'unknown', 'none'],
    ['never draws a weight of 0', weighted([10, 0]), 'admitted', 'none'],
    ['without a child with tunnels serves nothing', weighted([0, 90]), 'refused', 'others'],
    ['with an unknown child may serve', weighted([0, 90, 1]), 'unknown', 'others'],
    ['in an order serves with any child', weighted([1, 1], 'failover'), 'admitted', 'none'],
    ['that does not exist serves nothing', new Map(), 'refused', 'others'],
  ])('%s', (_, backends, verdict, fallback) => {
    expect(decided(worldWith({ backends }), {}, { ...DECIDED, 'weighted-fallback': fallback })[0]).toBe(verdict)
  })

  test('shows weights in percent and the tunnels of each group', () => {
    const steps = judge(worldWith({ backends: weighted([10, 30]) }), asked)
    expect(steps.at(-1)?.details).toEqual([
      'Backend/web: by weight',
      '  25 % Backend/web: 3 tunnels online',
      '  75 % Backend/web: 0 tunnels online',
    ])
  })
})

test.each([
  [{ version: '1.1' }, {}, ['refused', 'version']],
  [{ version: '1.1' }, { termination: { at: 'edge', minVersion: 'tls1.0' } }, ['admitted', undefined]],
  [{ version: '1.1' }, { termination: { at: 'upstream' } }, ['admitted', undefined]],
  [{ version: undefined }, { termination: { at: 'edge', minVersion: '1.3' } }, ['admitted', undefined]],
  [{}, { termination: { at: 'edge', minVersion: 'modern' } }, ['unknown', 'version']],
] as const)('TLS of %j at %j', (question, edge, expected) => {
  expect(decided(worldWith({ edge }), question)).toEqual(expected)
})
