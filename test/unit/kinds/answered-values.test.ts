import { describe, expect, test } from 'vitest'
import { agentIngress } from '../../../src/kinds/agent-ingress.ts'
import { apiKey } from '../../../src/kinds/api-key.ts'
import { answeredDomain, targetName } from '../../../src/kinds/certificates/domain-name.ts'
import { reservedDomain } from '../../../src/kinds/reserved-domain.ts'
import { answeredCertificate, answeredKey } from '../../../src/kinds/ssh/key-lines.ts'
import { sshKeys } from '../../builders/contract/ssh-keys.ts'
import { authorityLine, certificateLine } from '../../builders/ssh-lines.ts'
import { unfitCertificates, unfitKeys, unfitTargets, unfitTokens } from '../../builders/unfit-answers.ts'

describe('a name that a record may point to', () => {
  test.each([
    ['a.example.com', 'a.example.com'],
    ['A.Example.COM.', 'a.example.com'],
    ['1f0c9a7b.cname.tunnel.example', '1f0c9a7b.cname.tunnel.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    [`${'a.'.repeat(124)}beta.`, `${'a.'.repeat(124)}beta`],
  ])('%s is one', (value, name) => {
    expect(targetName(value)).toBe(name)
  })

  test.each(unfitTargets)('%s is none', (_, value) => {
    expect(targetName(value)).toBeUndefined()
    expect(targetName(value, '_acme-challenge.')).toBeUndefined()
  })

  test('may begin as a challenge does where it is that of one', () => {
    expect(targetName('_acme-challenge.a.example.com', '_acme-challenge.')).toBe('_acme-challenge.a.example.com')
    expect(targetName('_acme-challenge.a.example.com')).toBeUndefined()
    expect(targetName('_acme-challenge._acme-challenge.a.example.com', '_acme-challenge.')).toBeUndefined()
  })
})

test('the domain of an answer is a name, a wildcard, or none', () => {
  expect(answeredDomain('Shop.Example.com')).toBe('shop.example.com')
  expect(answeredDomain('*.example.com')).toBe('*.example.com')
  for (const value of ['*.*.example.com', 'a b', '', 7, null, `${'a.'.repeat(200)}com`]) {
    expect(answeredDomain(value)).toBeUndefined()
  }
})

describe('an answer about a domain', () => {
  const spec = { domain: 'shop.example.com' }
  const target = 'x.cname.tunnel.example'
  const ofDomain = (fields: object) => reservedDomain.status.answerProblem?.(spec, { id: 'rd_1', ...fields })
  const ofIngress = (fields: object) => agentIngress.status.answerProblem?.(spec, { id: 'agin_1', ...fields })

  test('is used when it is about the domain of the spec, in whatever case, or says nothing of one', () => {
    for (const domain of ['shop.example.com', 'Shop.Example.Com', 'shop.example.com.', undefined, null]) {
      expect(ofDomain({ domain, cname_target: target })).toBeUndefined()
      expect(ofIngress({ domain, ns_targets: [target] })).toBeUndefined()
    }
    expect(ofDomain({ cname_target: null, acme_challenge_cname_target: null })).toBeUndefined()
    expect(ofIngress({ ns_targets: null })).toBeUndefined()
  })

  test.each([
    'bank.example.com',
    'shop.example.com.evil.example',
    '*.shop.example.com',
    'example.com',
    '_acme-challenge.shop.example.com',
    '',
    7,
    ['shop.example.com'],
  ])('is refused when it is about %j, in words that name both', (domain) => {
    for (const problem of [ofDomain({ domain, cname_target: target }), ofIngress({ domain, ns_targets: [target] })]) {
      expect(problem).toContain(JSON.stringify(domain))
      expect(problem).toContain('spec.domain is shop.example.com')
    }
  })

  test.each(unfitTargets)('is refused for a target that is %s', (_, value) => {
    expect(ofDomain({ cname_target: value })).toMatch(/as cname_target, which is not a DNS name/)
    expect(ofDomain({ acme_challenge_cname_target: value })).toContain('acme_challenge_cname_target')
    expect(ofIngress({ ns_targets: [target, value] })).toContain('one of ns_targets')
  })

  test('quotes little of what it was', () => {
    expect(ofDomain({ domain: 'x'.repeat(10_000) })?.length).toBeLessThan(300)
  })

  test('publishes no name but those of the spec, and shows no target that is none', () => {
    const remote = { id: 'rd_1', domain: 'bank.example.com', cname_target: target, acme_challenge_cname_target: target }
    const asked = { domain: '*.shop.example.com', dns: { endpoint: true } }
    const names = (content: object | undefined) =>
      (content as { readonly endpoints: readonly { readonly dnsName: string }[] }).endpoints.map(
        ({ dnsName }) => dnsName,
      )
    expect(names(reservedDomain.companion?.content(asked, remote, {}))).toEqual([
      '*.shop.example.com',
      '_acme-challenge.shop.example.com',
    ])
    const ingress = { id: 'agin_1', domain: 'bank.example.com', ns_targets: [target] }
    expect(names(agentIngress.companion?.content({ ...spec, dns: { endpoint: true } }, ingress, {}))).toEqual([
      'shop.example.com',
    ])
    expect(reservedDomain.status.shown({ ...remote, cname_target: '*.x' }, {})).not.toHaveProperty('cnameTarget')
    expect(reservedDomain.status.shown({ ...remote, domain: 'a b' }, {})).not.toHaveProperty('dnsRecords')
  })
})

describe('a token', () => {
  const problem = (token: unknown) => apiKey.output?.type === 'one-time' && apiKey.output.problem({ id: 'ak_1', token })

  test.each(['a', '!~', 'x'.repeat(4096), '2abcDEF_0-9.=+/'])('%j may be written', (token) => {
    expect(problem(token)).toBeUndefined()
  })

  test.each(unfitTokens)('that is %s may not', (_, token) => {
    expect(problem(token)).toMatch(/^no token|^a token that is not/)
  })
})

describe('what the API gives of SSH', () => {
  test.each(Object.values(sshKeys))('a public key is one: %s', (key) => {
    expect(answeredKey(key)).toBe(key)
    expect(answeredKey(`${key}\n`)).toBe(key)
  })

  test.each(unfitKeys)('a public key is not %s', (_, value) => {
    expect(answeredKey(value)).toBeUndefined()
  })

  test('a certificate is one, with whatever comment', () => {
    for (const comment of ['', 'me@laptop', 'Zoë\tM. (work)']) {
      expect(answeredCertificate(certificateLine(comment))).toBe(certificateLine(comment))
    }
    const nistp = certificateLine('', 'ecdsa-sha2-nistp521-cert-v01@openssh.com')
    expect(answeredCertificate(`${nistp}\n`)).toBe(nistp)
    expect(answeredCertificate(authorityLine)).toBeUndefined()
  })

  test.each(unfitCertificates)('a certificate is not %s', (_, value) => {
    expect(answeredCertificate(value)).toBeUndefined()
  })
})
