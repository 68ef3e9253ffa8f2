import { expect } from 'vitest'
import { caFacts, caPem, partnerCaFacts, partnerCaPem } from '../contract/ca-pem.ts'
import { sshKeys } from '../contract/ssh-keys.ts'
import { CONFIG_MAP, SECRET } from '../specs.ts'
import {
  another,
  type Body,
  type Edit,
  type EditStory,
  given,
  type IdOf,
  notEmpty,
  patch,
  quiet,
  sets,
  story,
  texts,
} from './edit.ts'

const acl: readonly Edit[] = [
  patch('acl', { acl: ['bind:app=shop'] }, { acl: ['bind:app=shop'] }),
  patch(
    'acl',
    { acl: ['bind:*.edit.tunnel.example', 'bind:a.example:1'] },
    { acl: ['bind:*.edit.tunnel.example', 'bind:a.example:1'] },
  ),
  patch('acl', { acl: undefined }, { acl: ['*'] }),
]

const fromSecret = (key: keyof typeof SECRET.values) => ({ secretKeyRef: { name: SECRET.name, key } })
const fromConfigMap = (key: keyof typeof CONFIG_MAP.values) => ({ configMapKeyRef: { name: CONFIG_MAP.name, key } })

/** Every way to change the public key; `others` are the fields in which a new object also differs. */
function publicKeys(others: (type: string) => Body): readonly Edit[] {
  const key = (public_key: string, type: string): Body => ({ public_key, ...others(type) })
  return [
    another({ publicKey: sshKeys.ecdsa384 }, key(sshKeys.ecdsa384, 'ecdsa')),
    another({ publicKey: undefined, publicKeyFrom: fromSecret('publicKey') }, key(sshKeys.rsa, 'rsa')),
    another({ publicKeyFrom: fromSecret('otherPublicKey') }, key(sshKeys.ed25519, 'ed25519')),
    another({ publicKeyFrom: fromConfigMap('publicKey') }, key(sshKeys.ecdsa521, 'ecdsa')),
    another({ publicKeyFrom: fromConfigMap('otherPublicKey') }, key(sshKeys.ecdsa256, 'ecdsa')),
    another({ publicKey: sshKeys.ed25519, publicKeyFrom: undefined }, key(sshKeys.ed25519, 'ed25519')),
    // The comment is not part of the key.
    ...quiet({ publicKey: `${sshKeys.ed25519}\n` }),
  ]
}

const march = { valid_after: '2026-03-01T00:00:00Z' }
const signed = { certificate: expect.any(String), valid_after: expect.any(String), valid_until: expect.any(String) }
const again = (spec: Body, object: Body | ((id: IdOf) => Body) = {}): Edit =>
  another(spec, (id) => ({ ...signed, ...given(object)(id) }))

/** Each field of an output except the key of a token. */
function outputs(member: 'secret' | 'configMap'): readonly Body[] {
  const first = { labels: { team: 'edge' }, annotations: { 'example.com/reflect': 'true' } }
  const second = { labels: { team: 'core' }, annotations: { 'example.com/reflect': 'false' } }
  return [{}, first, second, {}].map((metadata, index) => {
    return { output: { [member]: { name: index < 2 ? 'PLACE-a' : 'PLACE-b', ...metadata } } }
  })
}

/** Edits of both kinds of certificate; each signs it anew, except a change of its destination. */
const certificate: readonly Edit[] = [
  again({ sshCertificateAuthorityRef: { name: 'other' } }, (id) => ({
    ssh_certificate_authority_id: id('SSHCertificateAuthority', 'other'),
  })),
  ...publicKeys((key_type) => ({ key_type, ...signed })),
  again({ principals: undefined, anyPrincipal: true }, { principals: [] }),
  again({ principals: ['bob', 'alice'], anyPrincipal: false }, { principals: sets(['alice', 'bob']) }),
  ...quiet({ principals: ['alice', 'bob'], anyPrincipal: undefined }, { principals: ['bob', 'alice'] }),
  again({ validUntil: '2098-01-01T00:00:00Z' }, { valid_until: '2098-01-01T00:00:00Z' }),
  again(
    { validAfter: '2026-02-01T00:00:00Z' },
    { valid_after: '2026-02-01T00:00:00Z', valid_until: '2098-01-01T00:00:00Z' },
  ),
  again({ validAfter: '2026-03-01T02:00:00+02:00' }, { ...march, valid_until: '2098-01-01T00:00:00Z' }),
  ...quiet({ validAfter: '2026-03-01T00:00:00Z' }),
  again({ validUntil: '2099-01-01T00:00:00.9Z' }, { ...march, valid_until: '2099-01-01T00:00:00Z' }),
  again({ validUntil: undefined, validFor: '80000h' }, { ...march, valid_until: '2035-04-16T08:00:00Z' }),
  again({ validFor: '72000h' }, { ...march, valid_until: '2034-05-18T00:00:00Z' }),
  ...quiet({ validAfter: undefined }),
  again({ validFor: undefined }),
  ...quiet({ renewBefore: '1h' }, { renewBefore: '30m' }, { renewBefore: undefined }),
  ...quiet(...outputs('secret'), ...outputs('configMap'), { output: undefined }),
]

const ownExtensions: readonly Edit[] = [
  again({ criticalOptions: { forceCommand: 'uptime' } }, { critical_options: { 'force-command': 'uptime' } }),
  again(
    { criticalOptions: { forceCommand: 'who', sourceAddresses: ['192.0.2.0/24'] } },
    {
      critical_options: { 'force-command': 'who', 'source-address': '192.0.2.0/24' },
    },
  ),
  again(
    { criticalOptions: { sourceAddresses: ['192.0.2.0/24', '2001:db8::/32'] } },
    {
      critical_options: { 'source-address': '192.0.2.0/24,2001:db8::/32' },
    },
  ),
  again({ criticalOptions: {} }, { critical_options: {} }),
  ...quiet({ criticalOptions: undefined }),
  again({ extensions: {} }, { extensions: {} }),
  again({ extensions: { 'permit-pty': '' } }, { extensions: { 'permit-pty': '' } }),
  again({ extensions: undefined }, { extensions: { 'permit-pty': '', 'permit-user-rc': '' } }),
]

/** Edits of bots, credentials, authorities and certificates. */
export const credentialStories: readonly EditStory[] = [
  story('BotUser', 'bot', { displayName: 'bot' }, [
    patch('name', { displayName: 'other bot' }, { name: 'other bot' }),
    patch('active', { active: false }, { active: false }),
    patch('active', { active: true }, { active: true }),
    ...quiet({ active: undefined }),
  ]),
  ...['APIKey', 'TunnelCredential'].map((kind) =>
    story(kind, kind.toLowerCase(), notEmpty, [
      ...texts,
      ...(kind === 'TunnelCredential' ? acl : []),
      ...quiet(
        ...outputs('secret'),
        { output: { secret: { key: 'a' } } },
        { output: { secret: { key: 'b' } } },
        { output: { secret: { labels: { team: 'edge' } } } },
        { output: undefined },
        { rotation: { interval: '720h' } },
        { rotation: { interval: '1440h', overlap: '24h' } },
        { rotation: { interval: '1440h', overlap: '0s' } },
        { rotation: undefined },
      ),
    ]),
  ),
  story('SSHCredential', 'key', { publicKey: sshKeys.ed25519 }, [...texts, ...acl, ...publicKeys(() => ({ acl: [] }))]),
  story('SSHCertificateAuthority', 'authority', notEmpty, [
    ...texts,
    ...quiet(...outputs('configMap'), { output: undefined }),
  ]),
  story(
    'SSHUserCertificate',
    'user',
    { sshCertificateAuthorityRef: { name: 'team' }, publicKey: sshKeys.ed25519, principals: ['alice'] },
    [...texts, ...certificate, ...ownExtensions],
  ),
  story(
    'SSHHostCertificate',
    'host',
    { sshCertificateAuthorityRef: { name: 'team' }, publicKey: sshKeys.ed25519, principals: ['alice'] },
    [...texts, ...certificate],
  ),
  story('CertificateAuthority', 'ca', { caPEM: caPem }, [
    ...texts,
    another({ caPEM: partnerCaPem }, { ca_pem: partnerCaPem, ...partnerCaFacts }),
    another({ caPEM: undefined, caPEMFrom: fromSecret('caPEM') }, { ca_pem: caPem, ...caFacts }),
    another({ caPEMFrom: fromSecret('otherCAPEM') }, { ca_pem: partnerCaPem, ...partnerCaFacts }),
    another({ caPEMFrom: fromConfigMap('otherCAPEM') }, { ca_pem: caPem, ...caFacts }),
    another({ caPEMFrom: fromConfigMap('caPEM') }, { ca_pem: partnerCaPem, ...partnerCaFacts }),
    another({ caPEM: caPem, caPEMFrom: undefined }, { ca_pem: caPem, ...caFacts }),
  ]),
]
