import { expect, test } from 'vitest'
import {
  type SSHCertificateAuthoritySpec,
  sshCertificateAuthority,
} from '../../../src/kinds/ssh-certificate-authority.ts'
import { plan, planCreate } from '../../../src/managed/plan.ts'
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

test('nothing about the key is ever sent again', () => {
  const remote = { id: 'sshca_1', key_type: 'rsa', public_key: 'ssh-rsa AAAA', description: '', metadata: 'marker' }
  const desired = desiredOf({ spec: { privateKeyType: 'ECDSA' as const, ellipticCurve: 'P-256' as const } })
  const context = { markedMetadata: 'marker', inputsChanged: false }
  expect(plan(sshCertificateAuthority, desired, { remote, children: [] }, context)).toEqual([])
})

test('the status shows the public key whole or not at all', () => {
  const status = (key: string) =>
    sshCertificateAuthority.status({ id: 'sshca_1', public_key: key, key_type: 'rsa' }, {})
  expect(status('ssh-rsa AAAA')).toEqual({ publicKey: 'ssh-rsa AAAA', keyType: 'rsa' })
  expect(status('A'.repeat(16_385))).toEqual({ keyType: 'rsa' })
})
