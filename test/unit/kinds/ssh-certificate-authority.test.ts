import { expect, test } from 'vitest'
import {
  type SSHCertificateAuthoritySpec,
  sshCertificateAuthority,
} from '../../../src/kinds/ssh-certificate-authority.ts'
import { differences, plan, planCreate } from '../../../src/managed/plan/plan.ts'
import { sshKeys } from '../../builders/contract/ssh-keys.ts'
import { desiredOf } from '../../builders/kinds/desired.ts'

const created = (spec: SSHCertificateAuthoritySpec) => {
  const { metadata: _, ...body } = planCreate(sshCertificateAuthority, desiredOf({ spec }), 'marker')
  return body
}

test('the key is described in the words of the API, and what the spec leaves open is left to the service', () => {
  expect(created({})).toEqual({ private_key_type: 'ed25519' })
  expect(created({ privateKeyType: 'RSA', keySize: 2048 })).toEqual({ private_key_type: 'rsa', key_size: 2048 })
  expect(created({ privateKeyType: 'ECDSA', ellipticCurve: 'P-521' })).toEqual({
    private_key_type: 'ecdsa',
    elliptic_curve: 'P-521',
  })
})

test.each([
  ['P-256', ['p256']],
  ['p521', ['P-521']],
  ['secp384r1', ['P-384', 'p384']],
  ['brainpoolP256r1', []],
])('a curve %s is sent as the spec has it, and by its other names where that is refused', (ellipticCurve, others) => {
  const body = created({ privateKeyType: 'ECDSA', ellipticCurve })
  expect(body).toEqual({ private_key_type: 'ecdsa', elliptic_curve: ellipticCurve })
  const names = sshCertificateAuthority.fields.alternatives?.(body).map(({ elliptic_curve }) => elliptic_curve)
  expect(names).toEqual(others)
})

test.each(['P-256', 'p256', 'prime256v1', 'a-curve-of-the-service'])(
  'a key asked for on the curve %s is as the spec has it',
  (ellipticCurve) => {
    const remote = { id: 'sshca_1', key_type: 'ecdsa', public_key: sshKeys.ecdsa256 }
    const desired = desiredOf<SSHCertificateAuthoritySpec>({ spec: { privateKeyType: 'ECDSA', ellipticCurve } })
    const quiet = { markedMetadata: undefined, inputsChanged: false }
    expect(differences(sshCertificateAuthority, desired, remote, quiet)).toEqual([])
    const other = { ...remote, public_key: sshKeys.ecdsa521 }
    const isKnown = ellipticCurve !== 'a-curve-of-the-service'
    expect(differences(sshCertificateAuthority, desired, other, quiet)).toHaveLength(Number(isKnown))
  },
)

test('nothing about the key is ever sent again', () => {
  const remote = { id: 'sshca_1', key_type: 'rsa', public_key: 'ssh-rsa AAAA', description: '', metadata: 'marker' }
  const desired = desiredOf({ spec: { privateKeyType: 'ECDSA' as const, ellipticCurve: 'P-256' as const } })
  const context = { markedMetadata: 'marker', inputsChanged: false }
  expect(plan(sshCertificateAuthority, desired, { remote, children: [] }, context)).toEqual([])
})

test('the status shows the public key whole or not at all', () => {
  const status = (key: string) =>
    sshCertificateAuthority.status.shown({ id: 'sshca_1', public_key: key, key_type: 'rsa' }, {})
  expect(status('ssh-rsa AAAA')).toEqual({ publicKey: 'ssh-rsa AAAA', keyType: 'rsa' })
  expect(status('A'.repeat(16_385))).toEqual({ keyType: 'rsa' })
})

test.each([
  ['rsa', { private_key_type: 'rsa', key_size: 2048 }],
  ['ecdsa256', { private_key_type: 'ecdsa', elliptic_curve: 'P-256' }],
  ['ecdsa521', { private_key_type: 'ecdsa', elliptic_curve: 'P-521' }],
  ['ed25519', { private_key_type: 'ed25519' }],
] as const)('a public key of %s tells what the private one is', (name, facts) => {
  expect(sshCertificateAuthority.fields.observe({ id: 'sshca_1', public_key: sshKeys[name] })).toEqual(facts)
})

test.each([
  ['none', '', undefined, {}],
  ['one that is cut off', 'ssh-rsa AAAAB3NzaC1yc2EAAAAD', undefined, { private_key_type: 'rsa' }],
  ['one of an unknown type', 'ssh-dss AAAAB3NzaC1kc3MAAACB', 'DSA', {}],
  ['none, next to a type', '', 'ECDSA-P256', { private_key_type: 'ecdsa' }],
])('of a public key that is %s no more is said than is known', (_what, public_key, key_type, facts) => {
  expect(sshCertificateAuthority.fields.observe({ id: 'sshca_1', public_key, key_type })).toEqual(facts)
})

test('an authority that was adopted with another type of key says so', () => {
  const remote = { id: 'sshca_1', public_key: sshKeys.rsa }
  const message = (spec: SSHCertificateAuthoritySpec): string =>
    sshCertificateAuthority.status.readiness({ spec, remote, now: 0 }).message
  expect(message({ privateKeyType: 'Ed25519' })).toContain('a key of type rsa, but spec.privateKeyType is Ed25519')
  for (const spec of [{}, { privateKeyType: 'RSA' as const }]) expect(message(spec)).toBe('the authority has its key')
})
