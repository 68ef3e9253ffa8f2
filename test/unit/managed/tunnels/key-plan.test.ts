import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TunnelSpec, TunnelStatus } from '../../../../src/managed/descriptor/tunnel.ts'
import { dueAt, type KeyFacts, planKey } from '../../../../src/managed/tunnels/key-plan.ts'

const SPEC: TunnelSpec = { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } }
const GIVEN: TunnelSpec = { ...SPEC, credentialRef: { name: 'own', privateKeySecretRef: { name: 'own', key: 'id' } } }
const ISSUED = '2026-01-01T00:00:00Z'
const NOW = Date.parse('2026-01-02T00:00:00Z')

const planned = (revision: number) => ({ revision, name: `shop-tunnel-key-${revision}` })
const key = (revision: number) => ({ ...planned(revision), issuedAt: ISSUED })

function plan(status: TunnelStatus, facts: Partial<KeyFacts> = {}) {
  return planKey({
    tunnel: 'shop',
    spec: SPEC,
    status,
    requested: undefined,
    isThere: true,
    mounted: { key: undefined, token: undefined },
    now: NOW,
    ...facts,
  })
}

describe('the key of a Tunnel', () => {
  test('is the first one of a new Tunnel, which answers a request made with it', () => {
    expect(plan({}, { requested: 'x' })).toMatchObject({
      key: { revision: 1, name: 'shop-tunnel-key-1' },
      lastHandledRotateAt: 'x',
    })
  })

  test('is the mounted one of a Tunnel that lost its status', () => {
    expect(plan({}, { mounted: { key: 7, token: undefined } }).key?.revision).toBe(7)
  })

  test.each<[string, Partial<KeyFacts>]>([
    ['on request', { requested: 'x' }],
    ['when its Secret is gone', { isThere: false }],
    ['when it is old enough', { spec: { ...SPEC, keyRotation: { interval: '24h' } } }],
  ])('is replaced %s', (_when, facts) => {
    expect(plan({ key: key(3) }, facts)).toMatchObject({ key: { revision: 4 }, formerKey: { revision: 3 } })
  })

  test('is replaced once for a request', () => {
    const first = plan({ key: key(1) }, { requested: 'x' })
    expect(
      plan({ key: key(2), lastHandledRotateAt: first.lastHandledRotateAt ?? '' }, { requested: 'x' }).formerKey,
    ).toBe(undefined)
  })

  test('is not replaced before it was made, nor while the former one is not retired', () => {
    expect(plan({ key: planned(2) }, { requested: 'x', isThere: false }).key?.revision).toBe(2)
    const status = { key: key(3), formerKey: { revision: 2 } }
    expect(plan(status, { requested: 'x' })).toMatchObject(status)
  })

  test('is retired for one that the spec sets, and recreated afterwards', () => {
    const given = plan({ key: key(2) }, { spec: GIVEN })
    expect(given).toMatchObject({ key: undefined, formerKey: { revision: 2 } })
    expect(plan({ formerKey: { revision: 2 } }).key?.revision).toBe(3)
  })

  test('gives way to a token for an agent of the service, and comes back for that of Culvert', () => {
    const agent = { image: 'agent:1' }
    const foreign = plan({ key: key(2) }, { spec: { ...SPEC, agent } })
    const token = { revision: 1, name: 'shop-tunnel-token-1' }
    expect(foreign).toMatchObject({ key: undefined, formerKey: { revision: 2 }, token, formerToken: undefined })
    const made = { ...token, issuedAt: ISSUED }
    const rotated = plan({ token: made }, { spec: { ...SPEC, agent }, requested: 'x', isThere: false })
    expect(rotated).toMatchObject({ token: { revision: 2 }, formerToken: { revision: 1 }, lastHandledRotateAt: 'x' })
    expect(plan({ token: made }, { spec: { ...SPEC, agent }, isThere: false }).token).toEqual(made)
    expect(plan({ token: made })).toMatchObject({ key: planned(1), token: undefined, formerToken: { revision: 1 } })
    // What is still to be retired goes first.
    const both = { token: made, formerToken: { revision: 7 } }
    expect(plan(both)).toMatchObject({ key: planned(1), ...both })
  })

  test('never comes back under a number that is in use', () => {
    const revision = fc.integer({ min: 1, max: 9 })
    const status = fc.record(
      { key: revision.map((number) => key(number)), formerKey: revision.map((number) => ({ revision: number })) },
      { requiredKeys: [] },
    )
    const facts = fc.record({ isThere: fc.boolean(), requested: fc.constantFrom(undefined, 'x', 'y') })
    fc.assert(
      fc.property(status, facts, fc.constantFrom(SPEC, GIVEN), (before, more, spec) => {
        const next = plan(before, { ...more, spec })
        if (next.key !== undefined && next.key.revision !== before.key?.revision) {
          expect(next.key.revision).not.toBe(before.formerKey?.revision)
          expect(next.key.revision).not.toBe(next.formerKey?.revision)
        }
        // What was in use is kept or retired, never forgotten.
        if (before.key !== undefined) {
          expect([next.key?.revision, next.formerKey?.revision]).toContain(before.key.revision)
        }
      }),
    )
  })
})

test('a key is due by its age only if the spec says so', () => {
  expect(dueAt(SPEC, { key: key(1) })).toBeUndefined()
  expect(dueAt({ ...SPEC, keyRotation: { interval: '24h' } }, { key: key(1) })).toBe(NOW)
})
