import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BackendNode, type Target, targetsOf } from '../../../src/emulator/gateway/edges/choose-backend.ts'
import { loopbackAddressOf } from '../../../src/emulator/gateway/edges/tcp-listeners.ts'
import { applyPolicy } from '../../../src/emulator/gateway/edges/traffic-policy.ts'
import { TLS_VERSIONS, tlsObjection, verdictOf } from '../../../src/emulator/gateway/edges/verdict.ts'
import { hostportOf, parseBind } from '../../../src/emulator/gateway/ssh/bind.ts'
import type { JsonObject } from '../../../src/emulator/values/json.ts'
import { newKeyPair } from '../../../src/ssh/new-key.ts'

describe('what a forward binds', () => {
  const label = fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.stringMatching(/^[a-zA-Z0-9._=-]{0,8}$/))
  test('is the labels, whatever the port', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(label, { minLength: 1, maxLength: 6, selector: ([key]) => key }),
        fc.nat(65_535),
        (labels, port) => {
          const text = labels.map((pair) => pair.join('=')).join(',')
          expect(parseBind(text, port)).toEqual({ labels: Object.fromEntries(labels), domain: null, address: null })
        },
      ),
    )
  })

  test.each([
    ['shop.example.com', 443, { labels: null, domain: 'shop.example.com', address: null }, 'shop.example.com:443'],
    ['SHOP.example.com', 443, { labels: null, domain: 'shop.example.com', address: null }, 'shop.example.com:443'],
    [
      '1.tcp.us.tunnel.example',
      12_345,
      { labels: null, domain: null, address: '1.tcp.us.tunnel.example:12345' },
      '1.tcp.us.tunnel.example:12345',
    ],
  ])('%s with port %d is a name', (text, port, binding, hostport) => {
    const bound = parseBind(text, port)
    expect(bound).toEqual(binding)
    if (typeof bound !== 'string') expect(hostportOf(bound)).toBe(hostport)
  })

  test.each([
    ['', 80],
    ['localhost', 8080],
    ['*', 80],
    ['127.0.0.1', 80],
    ['=shop', 1],
    ['app=shop,', 1],
    ['app=shop,app=web', 1],
    ['shop.example.com', 0],
    [`a=${'x'.repeat(5000)}`, 1],
  ])('%s with port %d is nothing', (text, port) => {
    expect(parseBind(text, port)).toBeTypeOf('string')
  })

  test('is read from any text without an error', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(65_535), (text, port) => {
        parseBind(text, port)
      }),
    )
  })
})

test('each host has a loopback address of its own, the same every time it is free', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.domain(), { maxLength: 50 }), (hosts) => {
      const taken = new Set<string>()
      for (const host of hosts) {
        const address = loopbackAddressOf(host, (candidate) => taken.has(candidate))
        expect(address).toMatch(/^127\.(6[4-9]|[7-9]\d|1\d\d|2[0-4]\d|25[0-5])\.\d{1,3}\.\d{1,3}$/)
        expect(taken.has(address)).toBe(false)
        taken.add(address)
        const again = loopbackAddressOf(host, () => false)
        expect(loopbackAddressOf(host, (candidate) => candidate === again)).not.toBe(again)
      }
    }),
    { numRuns: 30 },
  )
})

/** Nested backends with at most five levels, by id. */
const nodes: fc.Arbitrary<ReadonlyMap<string, BackendNode>> = fc
  .array(
    fc.record({
      kind: fc.constantFrom<BackendNode['kind']>('tunnels', 'response', 'weighted', 'failover'),
      tunnels: fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }),
      children: fc.uniqueArray(fc.nat(11), { maxLength: 4 }),
      weights: fc.array(fc.nat(3), { minLength: 4, maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((drawn) => {
    const byId = new Map<string, BackendNode>()
    drawn.forEach(({ kind, tunnels, children, weights }, index) => {
      // Children come later, so that no backend contains itself; some do not exist.
      const below = children.filter((child) => child > index).map((child) => `b${child}`)
      byId.set(`b${index}`, node(kind, { index, tunnels, below, weights }))
    })
    return byId
  })

interface Drawn {
  readonly index: number
  readonly tunnels: readonly number[]
  readonly below: readonly string[]
  readonly weights: readonly number[]
}

function node(kind: BackendNode['kind'], { index, tunnels, below, weights }: Drawn): BackendNode {
  switch (kind) {
    case 'tunnels':
      return { kind, tunnels: tunnels.map((tunnel) => `t${index}-${tunnel}`) }
    case 'response':
      return { kind }
    case 'weighted':
      return { kind, children: below.map((child, at) => [child, weights[at] ?? 0] as const) }
    case 'failover':
      return { kind, children: below }
  }
}

const spelled = (target: Target): string => (target.kind === 'tunnel' ? target.tunnel : target.backend)

/** Every target below a backend, in no order. */
function reachable(id: string, byId: ReadonlyMap<string, BackendNode>): readonly string[] {
  const found = byId.get(id)
  switch (found?.kind) {
    case undefined:
      return []
    case 'tunnels':
      return found.tunnels
    case 'response':
      return [id]
    case 'weighted':
      return found.children.flatMap(([child, weight]) => (weight === 0 ? [] : reachable(child, byId)))
    case 'failover':
      return found.children.flatMap((child) => reachable(child, byId))
  }
}

describe('the targets of a connection', () => {
  test('are all that can serve it, each once', () => {
    fc.assert(
      fc.property(nodes, fc.nat(20), fc.double({ min: 0, max: 0.999, noNaN: true }), (byId, turn, random) => {
        const sources = { read: (id: string) => byId.get(id), turn: () => turn, random: () => random, fallsBack: true }
        const found = [...targetsOf('b0', sources)].map(spelled)
        expect(new Set(found).size).toBe(found.length)
        expect(new Set(found)).toEqual(new Set(reachable('b0', byId)))
      }),
    )
  })

  test('of a failover backend come in its order', () => {
    const byId = new Map<string, BackendNode>([
      ['root', { kind: 'failover', children: ['none', 'first', 'second'] }],
      ['none', { kind: 'tunnels', tunnels: [] }],
      ['first', { kind: 'tunnels', tunnels: ['t1', 't2'] }],
      ['second', { kind: 'response' }],
    ])
    const sources = { read: (id: string) => byId.get(id), turn: () => 1, random: () => 0, fallsBack: true }
    expect([...targetsOf('root', sources)].map(spelled)).toEqual(['t2', 't1', 'second'])
  })

  test('take turns among the tunnels of a group', () => {
    let count = 0
    const group: BackendNode = { kind: 'tunnels', tunnels: ['t1', 't2', 't3'] }
    const next = (): unknown => {
      const [first] = targetsOf('group', { read: () => group, turn: () => count++, random: () => 0, fallsBack: true })
      return first && spelled(first)
    }
    expect([next(), next(), next(), next()]).toEqual(['t1', 't2', 't3', 't1'])
  })

  test('of a weighted backend are drawn by weight, and never where the weight is 0', () => {
    const byId = new Map<string, BackendNode>([
      [
        'root',
        {
          kind: 'weighted',
          children: [
            ['one', 1],
            ['zero', 0],
            ['three', 3],
          ],
        },
      ],
      ['one', { kind: 'response' }],
      ['zero', { kind: 'response' }],
      ['three', { kind: 'response' }],
    ])
    const firsts = Array.from({ length: 400 }, (_, index) => {
      const sources = { read: (id: string) => byId.get(id), turn: () => 0, random: () => index / 400, fallsBack: true }
      return [...targetsOf('root', sources)].map(spelled)[0]
    })
    expect(firsts.filter((first) => first === 'one')).toHaveLength(100)
    expect(firsts.filter((first) => first === 'three')).toHaveLength(300)
  })
})

describe('the verdict on a source', () => {
  const none = { enforced: [], warnings: [] }
  test.each([
    [none, undefined, true, null],
    [none, { isAdmitted: true, rule: 'ipr_1' }, true, 'ipr_1'],
    [none, { isAdmitted: false, rule: 'ipr_2' }, false, 'ipr_2'],
    [none, { isAdmitted: false, rule: undefined }, false, null],
    [{ enforced: ['ipx_1'], warnings: [] }, { isAdmitted: true, rule: 'ipr_1' }, false, 'ipx_1'],
    [{ enforced: [], warnings: ['ipx_1'] }, undefined, true, null],
  ])('with %j of the account and %j of the edge is %s', (objections, module, isAdmitted, rule) => {
    const verdict = verdictOf(objections, { restriction: module })
    expect([verdict.isAdmitted, verdict.rule]).toEqual([isAdmitted, rule])
    expect(verdict.warnings).toEqual(objections.warnings)
  })
})

describe('a traffic policy', () => {
  const facts = { protocol: 'tcp', source: '192.0.2.7', sourcePort: 5000, host: 'a.example', port: 443 } as const
  const rule = (expressions: readonly string[], ...types: readonly string[]): JsonObject => ({
    name: 'r',
    expressions: [...expressions],
    actions: types.map((type) => ({ type, config: {} })),
  })
  const [TRUE, FALSE, DOUBTFUL] = ['conn.client_port == 5000', 'conn.server_port != 443', 'req.headers.size() > 1']

  test.each([
    [[rule([], 'deny')], true],
    [[rule([TRUE], 'deny')], true],
    [[rule([TRUE, "conn.client_ip.startsWith('192.0.2.')"], 'deny')], true],
    [[rule([TRUE, FALSE], 'deny')], false],
    [[rule([TRUE, DOUBTFUL], 'deny')], true],
    [[rule([FALSE, DOUBTFUL], 'deny')], false],
    [[rule(["'text'"], 'deny')], true],
    [[rule([TRUE], 'log'), rule([FALSE], 'deny')], false],
    [[rule([TRUE], 'log', 'deny')], true],
    [[], false],
  ])('%j denies: %s', (rules, denies) => {
    for (const policy of [{ inbound: rules }, { outbound: rules, inbound: [] }]) {
      expect(applyPolicy(policy, facts).denial !== undefined).toBe(denies)
    }
  })

  test('notes what it logs, what has no effect and what cannot be evaluated', () => {
    const inbound = [rule([TRUE], 'log', 'custom-response'), rule([DOUBTFUL], 'log')]
    expect(applyPolicy({ inbound }, facts)).toEqual({
      denial: undefined,
      notes: [
        'the policy rule "r" logs it',
        'the policy rule "r" has the action custom-response, which has no effect here',
        'the policy rule "r" has an expression that cannot be evaluated',
      ],
    })
  })
})

test('a connection outlives a change of TLS exactly if it meets the new terms', () => {
  const versions = fc.constantFrom(...TLS_VERSIONS)
  const authorities = fc.option(fc.uniqueArray(fc.constantFrom('ca_1', 'ca_2', 'ca_3'), { minLength: 1 }), {
    nil: undefined,
  })
  fc.assert(
    fc.property(
      fc.boolean(),
      authorities,
      versions,
      fc.boolean(),
      authorities,
      versions,
      (endedAtEdge, had, version, endsAtEdge, wants, minVersion) => {
        const facts = { endsAtEdge: endedAtEdge, client: { vouchers: had && new Set(had), version } }
        const terms = { endsAtEdge, trusted: wants && new Set(wants), minVersion }
        const objection = tlsObjection(facts, terms)
        const isTrusted = wants === undefined || (had?.every((id) => wants.includes(id)) ?? false)
        const fits = endedAtEdge === endsAtEdge && (!endsAtEdge || (isTrusted && version >= minVersion))
        expect(objection === undefined).toBe(fits)
        const early = tlsObjection({ ...facts, client: undefined }, terms)
        expect(early === undefined).toBe(endedAtEdge === endsAtEdge)
      },
    ),
  )
})

test('a key that the SSH library has made and cannot read is not used', () => {
  const good = newKeyPair().privateKey
  const made = ['-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n', good]
  expect(newKeyPair(() => made.shift() ?? '').privateKey).toBe(good)
})
