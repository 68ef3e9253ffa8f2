import { describe, expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import { agentIngress } from '../../../src/kinds/agent-ingress.ts'
import { reservedDomain } from '../../../src/kinds/reserved-domain.ts'
import type { Fields } from '../../../src/managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../../../src/managed/descriptor/descriptor.ts'

const wildcard: RemoteObject = {
  id: 'rd_1',
  domain: '*.apps.example.com',
  cname_target: 'x.cname.tunnel.example',
  acme_challenge_cname_target: 'y.acme.tunnel.example',
}
const ingress: RemoteObject = {
  id: 'agin_1',
  domain: 'agents.example.com',
  ns_targets: ['ns2.tunnel.example', 'ns1.tunnel.example'],
}

const ofDomain = (remote: RemoteObject, dns: object = {}, found: Fields = {}) => {
  const spec = { domain: '*.apps.example.com', dns: { endpoint: true, ...dns } }
  return reservedDomain.companion?.content(spec, remote, found)
}

function endpointsIn(content: Fields | undefined): readonly Fields[] {
  return (content?.endpoints ?? []) as readonly Fields[]
}

describe('the DNSEndpoint', () => {
  test('of a wildcard of one’s own has its CNAME and that of the challenge', () => {
    expect(ofDomain(wildcard)).toEqual({
      endpoints: [
        { dnsName: '*.apps.example.com', recordType: 'CNAME', targets: ['x.cname.tunnel.example'] },
        { dnsName: '_acme-challenge.apps.example.com', recordType: 'CNAME', targets: ['y.acme.tunnel.example'] },
      ],
    })
  })

  test('of an ingress has one NS record with all name servers, in whatever order they come', () => {
    const spec = { domain: 'agents.example.com', dns: { endpoint: true } }
    const targets = ['ns1.tunnel.example', 'ns2.tunnel.example']
    const endpoints = [{ dnsName: 'agents.example.com', recordType: 'NS', targets }]
    expect(agentIngress.companion?.content(spec, ingress, {})).toEqual({ endpoints })
    expect(agentIngress.companion?.content(spec, { ...ingress, ns_targets: targets }, {})).toEqual({ endpoints })
  })

  test('names the time to live where the spec does, and takes another away', () => {
    const timed = ofDomain(wildcard, { recordTTL: 60 })
    expect(endpointsIn(timed).map(({ recordTTL }) => recordTTL)).toEqual([60, 60])
    expect(ofDomain(wildcard, {}, timed)).toEqual(ofDomain(wildcard))
  })

  test('keeps what others say of a record, and no records of theirs', () => {
    const settings = { labels: { team: 'a' }, providerSpecific: [{ name: 'proxied', value: 'true' }] }
    const [first, second] = endpointsIn(ofDomain(wildcard))
    const found = {
      endpoints: [
        { dnsName: 'other.example.com', recordType: 'A', targets: ['192.0.2.1'] },
        { ...first, ...settings, targets: ['elsewhere.example.com'] },
      ],
    }
    expect(ofDomain(wildcard, {}, found)).toEqual({ endpoints: [{ ...first, ...settings }, second] })
  })

  test('has no dot at the end of a name', () => {
    const dotted = { ...wildcard, cname_target: 'x.cname.tunnel.example.' }
    expect(ofDomain(dotted)).toEqual(ofDomain(wildcard))
  })

  test('is not made for a domain of the service, nor unless the spec asks', () => {
    expect(ofDomain({ id: 'rd_2', domain: 'shop.tunnel.example' })).toBeUndefined()
    const asked = [undefined, {}, { endpoint: false }, { recordTTL: 60 }, { endpoint: true }].map((dns) => {
      return reservedDomain.companion?.isWanted({ domain: 'a.example.com', ...(dns === undefined ? {} : { dns }) })
    })
    expect(asked).toEqual([false, false, false, false, true])
  })
})

describe('whether the administrator allows it', () => {
  const refusal = (kind: ManagedDescriptor, domain: string, domains: readonly string[], enabled = true) => {
    return kind.companion?.notAllowed({ domain, dns: { endpoint: true } } as never, { enabled, domains })
  }

  test.each<readonly [domain: string, domains: readonly string[], allowed: boolean]>([
    ['shop.example.com', [], false],
    ['shop.example.com', ['shop.example.com'], true],
    ['shop.example.com', ['example.com'], false],
    ['shop.example.com', ['*.example.com'], true],
    ['a.shop.example.com', ['*.example.com'], true],
    ['a.shop.example.com', ['shop.example.com'], false],
    ['example.com', ['*.example.com'], false],
    ['badexample.com', ['*.example.com'], false],
    ['shop.example.com.evil.test', ['*.example.com', 'shop.example.com'], false],
    ['*.example.com', ['*.example.com'], true],
    ['*.example.com', ['example.com'], false],
    ['*.apps.example.com', ['*.example.com'], true],
    ['*.example.com', ['*.apps.example.com'], false],
    ['shop.example.com', ['other.example.com', 'shop.example.com'], true],
  ])('of %s with %j: %s', (domain, domains, allowed) => {
    for (const kind of [reservedDomain, agentIngress] as unknown as readonly ManagedDescriptor[]) {
      expect(refusal(kind, domain, domains) === undefined).toBe(allowed)
    }
  })

  test('is said with field, value and remedy, and nothing is allowed to an operator that makes none', () => {
    const kind = reservedDomain as unknown as ManagedDescriptor
    expect(refusal(kind, 'shop.example.com', ['a.example.com'])).toMatch(
      /^spec\.domain shop\.example\.com .*--dns-domains/,
    )
    expect(refusal(kind, 'shop.example.com', ['shop.example.com'], false)).toMatch(
      /^spec\.dns\.endpoint .*--dns-endpoints/,
    )
  })
})
