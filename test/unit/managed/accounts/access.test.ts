import { describe, expect, test } from 'vitest'
import { kinds } from '../../../../src/kinds/index.ts'
import { accessOf, narrowed } from '../../../../src/managed/accounts/access.ts'
import { type AccessEntry, includes, type UnmanagedObjects } from '../../../../src/managed/descriptor/access.ts'
import type { CommonSpec } from '../../../../src/managed/descriptor/common.ts'
import { KindsRegistry } from '../../../../src/managed/kinds-registry.ts'
import { coversDomain } from '../../../../src/util/domain-pattern.ts'
import { memberKinds } from '../../../builders/access.ts'

const registry = new KindsRegistry(kinds)
const shop = { matchLabels: { team: 'shop' } }
const account = { kind: 'ClusterAccount', name: 'shared' } as const

/**
 * The result of `entries` for a resource in a namespace with the label team=shop: a reason, or how it may use unmanaged
 * objects.
 */
function said(entries: readonly AccessEntry[], kind = 'Backend', spec: object = {}): string {
  const found = accessOf(entries, requestOf(kind, spec))
  return 'reason' in found ? found.reason : found.unmanagedObjects
}

function requestOf(kind: string, spec: object) {
  const { reach, needs } = registry.member(kind)
  const labels = { team: 'shop' }
  return { account, namespace: 'shop', labels, kind, reach, needs: needs(spec as CommonSpec) }
}

function messageOf(entries: readonly AccessEntry[], kind: string, spec: object): string {
  const found = accessOf(entries, requestOf(kind, spec))
  return 'reason' in found ? found.message : 'allowed'
}

test('without an entry that selects its namespace a resource is not allowed', () => {
  expect(said([])).toBe('AccountNotAllowed')
  expect(said([{ namespaceSelector: { matchLabels: { team: 'blog' } } }])).toBe('AccountNotAllowed')
  expect(said([{ namespaceSelector: {} }])).toBe('Deny')
  const unknown = { ...requestOf('Backend', {}), labels: undefined }
  expect(accessOf([{ namespaceSelector: {} }], unknown)).toMatchObject({ reason: 'AccountNotAllowed' })
})

test('without kinds, an entry allows those that reach no further than their namespace', () => {
  const beyond = memberKinds.filter(({ definition }) => said([{ namespaceSelector: shop }], definition.kind) !== 'Deny')
  expect(beyond.map(({ definition }) => definition.kind).toSorted()).toEqual([
    'APIKey',
    'BotUser',
    'EventDestination',
    'EventSubscription',
    'IPRestriction',
    'SSHCertificateAuthority',
    'TunnelSessionCommand',
  ])
})

test.each(memberKinds.map(({ definition }) => definition.kind))(
  'an entry that names %s allows it, and one that names another does not',
  (kind) => {
    const other = kind === 'Edge' ? 'Backend' : 'Edge'
    expect(said([{ namespaceSelector: shop, kinds: [kind] }], kind)).toBe('Deny')
    expect(said([{ namespaceSelector: shop, kinds: [other] }], kind)).toBe('KindNotAllowed')
    expect(said([{ namespaceSelector: { matchLabels: { team: 'blog' } }, kinds: [kind] }], kind)).toBe(
      'AccountNotAllowed',
    )
  },
)

test('entries add up, and one of them has to allow all of a resource', () => {
  const entries: readonly AccessEntry[] = [
    { namespaceSelector: {}, kinds: ['ReservedDomain'], domains: ['shop.example.com'], unmanagedObjects: 'Adopt' },
    {
      namespaceSelector: shop,
      kinds: ['ReservedDomain'],
      domains: ['blog.example.com'],
      unmanagedObjects: 'Reference',
    },
    { namespaceSelector: shop, kinds: ['Edge'] },
    { namespaceSelector: { matchLabels: { team: 'blog' } } },
  ]
  expect(said(entries, 'ReservedDomain', { domain: 'shop.example.com' })).toBe('Adopt')
  expect(said(entries, 'ReservedDomain', { domain: 'blog.example.com' })).toBe('Reference')
  expect(said(entries, 'ReservedDomain', { domain: 'news.example.com' })).toBe('DomainNotAllowed')
  expect(said(entries, 'Edge', { hostports: [{ type: 'Host', host: 'news.example.com', port: 443 }] })).toBe('Deny')
  expect(said(entries, 'Backend')).toBe('KindNotAllowed')
})

test('of several entries that allow a resource the one counts that gives most', () => {
  const entry = (unmanagedObjects?: UnmanagedObjects): AccessEntry =>
    unmanagedObjects === undefined ? { namespaceSelector: shop } : { namespaceSelector: shop, unmanagedObjects }
  expect(said([entry()])).toBe('Deny')
  expect(said([entry('Deny'), entry('Reference')])).toBe('Reference')
  expect(said([entry('Adopt'), entry('Reference')])).toBe('Adopt')
})

test('to adopt includes to refer, and not the other way round', () => {
  expect(includes('Adopt', 'Reference')).toBe(true)
  expect(includes('Reference', 'Reference')).toBe(true)
  expect(includes('Reference', 'Adopt')).toBe(false)
  expect(includes('Deny', 'Reference')).toBe(false)
})

describe('domains', () => {
  test.each([
    ['shop.example.com', 'shop.example.com', true],
    ['shop.example.com', 'a.shop.example.com', false],
    ['shop.example.com', '*.shop.example.com', false],
    ['*.shop.example.com', 'a.shop.example.com', true],
    ['*.shop.example.com', 'a.b.shop.example.com', true],
    ['*.shop.example.com', '*.shop.example.com', true],
    ['*.shop.example.com', '*.a.shop.example.com', true],
    ['*.shop.example.com', 'shop.example.com', false],
    ['*.shop.example.com', '.shop.example.com', false],
    ['*.shop.example.com', 'webshop.example.com', false],
    ['*.shop.example.com', 'a.webshop.example.com', false],
    ['*.shop.example.com', '*.example.com', false],
    ['*.shop.example.com', '*', false],
    ['*.shop.example.com', 'a.shop.example.com.evil.example', false],
  ])('a pattern %s and a domain %s', (pattern, domain, covered) => {
    expect(coversDomain(pattern, domain)).toBe(covered)
  })

  const own: readonly AccessEntry[] = [
    {
      namespaceSelector: shop,
      kinds: [...memberKinds.map(({ definition }) => definition.kind)],
      domains: ['shop.example.com', '*.shop.example.com'],
    },
  ]
  const host = (name: string) => ({ hostports: [{ type: 'Host', host: name, port: 443 }] })
  test.each<[string, string, object, boolean]>([
    ['a domain', 'ReservedDomain', { domain: 'shop.example.com' }, true],
    ['a wildcard', 'ReservedDomain', { domain: '*.shop.example.com' }, true],
    ['the domain of another', 'ReservedDomain', { domain: 'blog.example.com' }, false],
    ['a wildcard over it', 'ReservedDomain', { domain: '*.example.com' }, false],
    ['an ingress', 'AgentIngress', { domain: 'shop.example.com' }, true],
    ['an ingress above it', 'AgentIngress', { domain: 'example.com' }, false],
    ['a host', 'Edge', host('a.shop.example.com'), true],
    ['the host of another', 'Edge', host('blog.example.com'), false],
    ['a host in capitals', 'Edge', host('BLOG.example.com'), false],
    [
      'an address of its own',
      'Edge',
      { hostports: [{ type: 'ReservedAddress', reservedAddressRef: { name: 'a' } }] },
      true,
    ],
    [
      'hosts, one of another',
      'Edge',
      { hostports: [...host('a.shop.example.com').hostports, ...host('blog.example.com').hostports] },
      false,
    ],
    ['a host certificate', 'SSHHostCertificate', { principals: ['a.shop.example.com'] }, true],
    [
      'one with another name too',
      'SSHHostCertificate',
      { principals: ['a.shop.example.com', 'blog.example.com'] },
      false,
    ],
    ['one for an address', 'SSHHostCertificate', { principals: ['192.0.2.1'] }, false],
    ['one for every host', 'SSHHostCertificate', { anyPrincipal: true }, false],
    ['a user certificate', 'SSHUserCertificate', { principals: ['root'] }, true],
    ['a credential', 'TunnelCredential', { acl: ['bind:*.shop.example.com', 'bind:shop.example.com:443'] }, true],
    ['a credential with labels', 'TunnelCredential', { acl: ['bind:*=*'] }, true],
    ['a credential without rules', 'TunnelCredential', {}, false],
    ['a credential for everything', 'SSHCredential', { acl: ['*'] }, false],
    ['a credential for another', 'SSHCredential', { acl: ['bind:shop.example.com', 'bind:*.example.com'] }, false],
    ['a credential for an address of another', 'SSHCredential', { acl: ['bind:1.tcp.example.com:12345'] }, false],
    ['a policy', 'IPPolicy', { rules: [] }, true],
  ])('%s', (_what, kind, spec, allowed) => {
    expect(said(own, kind, spec)).toBe(allowed ? 'Deny' : 'DomainNotAllowed')
  })

  test('an ingress takes all below its domain too', () => {
    expect(
      said([{ namespaceSelector: shop, domains: ['shop.example.com'] }], 'AgentIngress', {
        domain: 'shop.example.com',
      }),
    ).toBe('DomainNotAllowed')
  })

  test('an empty list allows none', () => {
    const none = [{ namespaceSelector: shop, domains: [] }]
    expect(said(none, 'ReservedDomain', { domain: 'shop.example.com' })).toBe('DomainNotAllowed')
    expect(said(none, 'IPPolicy')).toBe('Deny')
  })

  test('what references turn out to claim is asked too', () => {
    const found = accessOf(own, requestOf('Edge', {}))
    if ('reason' in found) throw new Error(found.message)
    const needs = { domains: [{ path: 'spec.hostports[0].reservedDomainRef', domain: 'blog.example.com' }] }
    expect(narrowed(found.granted ?? [], { ...requestOf('Edge', {}), needs })).toMatchObject({
      reason: 'DomainNotAllowed',
      message: expect.stringContaining('spec.hostports[0].reservedDomainRef: takes blog.example.com'),
    })
  })
})

describe('labels of tunnels', () => {
  const own: readonly AccessEntry[] = [{ namespaceSelector: shop, labels: { team: 'shop' } }]
  const group = (labels: Readonly<Record<string, string>>) => ({ type: 'TunnelGroup', tunnelGroup: { labels } })
  test.each<[string, string, object, boolean]>([
    ['a group with the label', 'Backend', group({ team: 'shop' }), true],
    ['a group with further labels', 'Backend', group({ team: 'shop', app: 'web' }), true],
    ['a group of another team', 'Backend', group({ team: 'blog' }), false],
    ['a group without the label', 'Backend', group({ app: 'web' }), false],
    ['a group of all tunnels', 'Backend', { type: 'TunnelGroup', tunnelGroup: {} }, false],
    ['a backend that chooses no tunnels', 'Backend', { type: 'HTTPResponse', httpResponse: {} }, true],
    ['a credential for the label', 'TunnelCredential', { acl: ['bind:team=shop', 'bind:app=*'] }, true],
    ['a credential for domains', 'TunnelCredential', { acl: ['bind:blog.example.com'] }, true],
    ['a credential without rules', 'TunnelCredential', {}, false],
    ['a credential for everything', 'SSHCredential', { acl: ['*'] }, false],
    ['a credential for another team', 'SSHCredential', { acl: ['bind:team=blog'] }, false],
    ['a credential for all teams', 'SSHCredential', { acl: ['bind:team=*'] }, false],
    ['a credential for any key', 'SSHCredential', { acl: ['bind:*=shop'] }, false],
    ['a domain', 'ReservedDomain', { domain: 'shop.example.com' }, true],
  ])('%s', (_what, kind, spec, allowed) => {
    expect(said(own, kind, spec)).toBe(allowed ? 'Deny' : 'LabelNotAllowed')
  })

  test('a label of the name of a property is one like any other', () => {
    const entries = [{ namespaceSelector: shop, labels: { constructor: 'x' } }]
    expect(said(entries, 'Backend', group({ team: 'shop' }))).toBe('LabelNotAllowed')
    expect(said(own, 'TunnelCredential', { acl: ['bind:constructor=x'] })).toBe('Deny')
  })
})

test('a refusal names field, value, what is allowed and the remedy', () => {
  const entries = [{ namespaceSelector: shop, domains: ['shop.example.com'], labels: { team: 'shop' } }]
  expect(messageOf(entries, 'ReservedDomain', { domain: 'blog.example.com' })).toBe(
    'spec.domain: takes blog.example.com; ClusterAccount/shared allows namespace shop shop.example.com: ' +
      'stay within these, or have its administrator extend domains of an entry of spec.access',
  )
  expect(messageOf(entries, 'Backend', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'web' } } })).toBe(
    "spec.tunnelGroup.labels: does not require team=shop and would therefore match other teams' tunnels; ClusterAccount/shared allows namespace shop team=shop: " +
      'stay within these, or have its administrator extend labels of an entry of spec.access',
  )
  expect(messageOf(entries, 'TunnelCredential', {})).toContain('spec.acl: takes every domain; ')
  expect(messageOf(entries, 'APIKey', {})).toBe(
    'ClusterAccount/shared does not allow APIKey in namespace shop: ' +
      'have its administrator add the kind to an entry of spec.access that selects the namespace',
  )
})
