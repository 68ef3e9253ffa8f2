import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import { sshCertificateAuthority } from '../../../src/kinds/ssh-certificate-authority.ts'
import { type SSHHostCertificateSpec, sshHostCertificate } from '../../../src/kinds/ssh-host-certificate.ts'
import { type SSHUserCertificateSpec, sshUserCertificate } from '../../../src/kinds/ssh-user-certificate.ts'
import type { Desired } from '../../../src/managed/descriptor/desired.ts'
import { plan, planCreate } from '../../../src/managed/plan/plan.ts'
import { sshKeys } from '../../builders/contract/ssh-keys.ts'
import { stored } from '../../builders/kinds/api-model.ts'
import { desiredOf } from '../../builders/kinds/desired.ts'
import { moment } from '../../builders/schema-specs.ts'
import { certificateLine } from '../../builders/ssh-lines.ts'

const start = Date.parse('2030-01-01T00:00:00.700Z')
const HOUR = 3_600_000
const base: SSHUserCertificateSpec = {
  sshCertificateAuthorityRef: { name: 'team' },
  publicKey: sshKeys.ed25519,
  principals: ['alice', 'deploy'],
}
const hostBase: SSHHostCertificateSpec = { ...base, principals: ['a.example.com'] }

const authority: RemoteObject = { id: 'sshca_1', public_key: `${sshKeys.ecdsa256.replace(' me@laptop', '')}` }
const objects = { 'SSHCertificateAuthority/team': authority }

function desired<Spec>(spec: Spec, now = start): Desired<Spec> {
  return { ...desiredOf({ spec, objects }), now }
}

const created = (spec: SSHUserCertificateSpec, now = start) =>
  planCreate(sshUserCertificate, desired(spec, now), 'marker')

/** What is left to do for `spec` at `now` with the certificate issued for `before` at the start. */
function left(before: SSHUserCertificateSpec, spec: SSHUserCertificateSpec, now = start + 1) {
  const remote = stored(created(before))
  const context = { markedMetadata: 'marker', inputsChanged: false }
  return plan(sshUserCertificate, desired(spec, now), { remote, children: [] }, context)
}

describe('how long a certificate is valid', () => {
  const times = ({ valid_after, valid_until }: Readonly<Record<string, unknown>>) => [valid_after, valid_until]

  test('is what the contract says unless the spec says otherwise, in whole seconds from its issue', () => {
    expect(times(created(base))).toEqual(['2030-01-01T00:00:00Z', '2030-01-02T00:00:00Z'])
    const host = planCreate(sshHostCertificate, desired(hostBase), 'marker')
    expect(times(host)).toEqual(['2030-01-01T00:00:00Z', '2031-01-01T00:00:00Z'])
  })

  test('is a length from its start, or an end', () => {
    expect(times(created({ ...base, validFor: '90m' }))).toEqual(['2030-01-01T00:00:00Z', '2030-01-01T01:30:00Z'])
    const later = { ...base, validAfter: '2030-06-01T02:00:00.9+02:00' }
    expect(times(created({ ...later, validFor: '1h' }))).toEqual(['2030-06-01T00:00:00Z', '2030-06-01T01:00:00Z'])
    expect(times(created({ ...later, validUntil: '2030-07-01T00:00:00.999z' }))).toEqual([
      '2030-06-01T00:00:00Z',
      '2030-07-01T00:00:00Z',
    ])
  })

  test('is asked for in the same words each time when it has passed, so that the refusal is the same', () => {
    const past = { ...base, validUntil: '2029-12-31T00:00:00Z' }
    expect(created(past, start + HOUR)).toEqual(created(past))
  })
})

test('time that passes changes nothing, whatever the spec', () => {
  const time = moment(1971, 2099)
  const until = fc.oneof(
    fc.constant({}),
    fc.record({ validUntil: time }),
    fc.record({ validFor: fc.constantFrom('1s', '90m', '12h', '8760h') }),
  )
  const specs = fc.record({ validAfter: time }, { requiredKeys: [] }).chain((after) => {
    return until.map((end) => ({ ...base, ...after, ...end }))
  })
  const years = fc.integer({ min: 0, max: 50 * 365 * 24 }).map((hours) => hours * HOUR)
  fc.assert(
    fc.property(specs, years, (spec, passed) => {
      expect(left(spec, spec, start + passed)).toEqual([])
    }),
  )
})

describe('a new certificate is issued', () => {
  const replaces = (before: SSHUserCertificateSpec, spec: SSHUserCertificateSpec, now?: number) =>
    left(before, spec, now).flatMap((operation) =>
      operation.type === 'replace' ? operation.fields : ['no replacement'],
    )

  test.each<[string, Partial<SSHUserCertificateSpec>, string]>([
    ['authority', { sshCertificateAuthorityRef: { id: 'sshca_2' } }, 'ssh_certificate_authority_id'],
    ['public key', { publicKey: sshKeys.rsa }, 'public_key'],
    ['principals', { principals: ['alice'] }, 'principals'],
    ['critical options', { criticalOptions: { forceCommand: 'uptime' } }, 'critical_options'],
    ['extensions', { extensions: {} }, 'extensions'],
    ['length', { validFor: '25h' }, 'valid_until'],
    ['end', { validUntil: '2030-01-02T00:00:01Z' }, 'valid_until'],
  ])('for another %s', (_what, change, field) => {
    expect(replaces(base, { ...base, ...change })).toEqual([field])
  })

  test('for another start, which moves the end of a length as well', () => {
    expect(replaces(base, { ...base, validAfter: '2030-01-01T00:00:01Z' })).toEqual(['valid_after'])
  })

  test('when a start that has not come yet is taken out of the spec, and not when it has', () => {
    const later = { ...base, validAfter: '2030-06-01T00:00:00Z' }
    expect(replaces(later, base)).toEqual(['valid_after'])
    expect(replaces(later, base, Date.parse('2030-06-01T00:00:00Z'))).toEqual([])
  })

  test('when the end is taken out of the spec and was another than the default', () => {
    expect(replaces({ ...base, validUntil: '2031-01-01T00:00:00Z' }, base)).toEqual(['valid_until'])
    expect(replaces({ ...base, validUntil: '2030-01-02T00:00:00Z' }, base)).toEqual([])
  })

  test('not for what means the same', () => {
    const full = { ...base, criticalOptions: { sourceAddresses: ['192.0.2.7/32', '10.0.0.0/8'] }, validFor: '60m' }
    const same = {
      ...base,
      publicKey: `${sshKeys.ed25519.replace('me@laptop', 'of Alice')}\n`,
      principals: ['deploy', 'alice'],
      criticalOptions: { sourceAddresses: ['10.0.0.0/8', '192.0.2.7/32'] },
      extensions: { 'permit-user-rc': '', 'permit-pty': '' },
      validFor: '1h',
      validAfter: '2030-01-01T01:00:00.9+01:00',
      output: { secret: { name: 'a' } },
    }
    expect(replaces(full, same)).toEqual([])
  })

  test('not because the API writes addresses without their length', () => {
    const spec = { ...base, criticalOptions: { sourceAddresses: ['192.0.2.7/32', '10.0.0.0/8'] } }
    const remote = { ...stored(created(spec)), critical_options: { 'source-address': '10.0.0.0/8,192.0.2.7' } }
    const context = { markedMetadata: 'marker', inputsChanged: false }
    expect(plan(sshUserCertificate, desired(spec), { remote, children: [] }, context)).toEqual([])
  })
})

describe('a certificate', () => {
  const remote = { id: 'sucrt_1', valid_after: '2030-01-01T00:00:00Z', valid_until: '2030-01-02T00:00:00Z' }
  const readiness = (time: string, spec: SSHUserCertificateSpec = base, found: RemoteObject = remote) =>
    sshUserCertificate.status.readiness({ spec, remote: found, now: Date.parse(time) })

  test('is not ready before it is valid, and looked at again when it is', () => {
    const found = readiness('2029-12-31T23:59:58Z')
    expect(found).toMatchObject({ ready: false, reason: 'NotYetValid', pollMs: 2000 })
    expect(found.stalled).toBeUndefined()
  })

  test('is ready while it is valid, and looked at again when it ends', () => {
    expect(readiness('2030-01-01T00:00:00Z')).toMatchObject({ ready: true, pollMs: 24 * HOUR })
    expect(readiness('2030-01-01T23:59:59.999Z')).toMatchObject({ ready: true, pollMs: 1 })
  })

  test('is not ready when it has expired, and says what helps', () => {
    const found = readiness('2030-01-02T00:00:00Z')
    expect(found).toMatchObject({ ready: false, reason: 'Expired' })
    expect(found.stalled).toBeUndefined()
    expect(found.message).toContain('a new certificate is being issued')
    const ended = readiness('2030-01-03T00:00:00Z', { ...base, validUntil: remote.valid_until })
    expect(ended).toMatchObject({ ready: false, reason: 'Expired', stalled: true })
    expect(ended.pollMs).toBeUndefined()
    expect(ended.message).toContain('set a later validUntil')
    const begun = readiness('2030-01-03T00:00:00Z', { ...base, validAfter: remote.valid_after, validFor: '24h' })
    expect(begun.message).toContain('set a later validAfter or remove it')
  })

  test('is renewed when two thirds of its length are over, or as long before its end as the spec says', () => {
    const dueAt = (more: Partial<SSHUserCertificateSpec>, found: RemoteObject = remote) => {
      const due = sshUserCertificate.rotation?.dueAt({ spec: { ...base, ...more }, remote: found, since: undefined })
      return due === undefined ? undefined : new Date(due).toISOString()
    }
    expect(dueAt({})).toBe('2030-01-01T16:00:00.000Z')
    expect(dueAt({ validFor: '24h' })).toBe('2030-01-01T16:00:00.000Z')
    expect(dueAt({ renewBefore: '30m' })).toBe('2030-01-01T23:30:00.000Z')
    expect(dueAt({}, { ...remote, valid_until: null })).toBeUndefined()
    // A new one would be the same.
    expect(dueAt({ validUntil: remote.valid_until })).toBeUndefined()
    expect(dueAt({ validAfter: remote.valid_after, validFor: '24h' })).toBeUndefined()
  })

  test('is looked at again within what timers take, and not at all without an end', () => {
    const long = { ...remote, valid_until: '2039-01-01T00:00:00Z' }
    expect(readiness('2030-01-01T00:00:00Z', base, long).pollMs).toBe(480 * HOUR)
    const endless = readiness('2030-01-01T00:00:00Z', base, { ...remote, valid_until: null })
    expect(endless).toMatchObject({ ready: true })
    expect(endless.pollMs).toBeUndefined()
  })

  test('is in the status with its key type and its times', () => {
    const found = { ...remote, key_type: 'ed25519', certificate: 'ssh-ed25519-cert-v01@openssh.com AAAA' }
    expect(sshUserCertificate.status.shown(found, {})).toEqual({
      keyType: 'ed25519',
      validAfter: '2030-01-01T00:00:00Z',
      validUntil: '2030-01-02T00:00:00Z',
      certificate: 'ssh-ed25519-cert-v01@openssh.com AAAA',
    })
    expect(sshUserCertificate.status.shown({ ...found, certificate: 'A'.repeat(131_073) }, {})).not.toHaveProperty(
      'certificate',
    )
  })
})

describe('a private key put in the place of a public one', () => {
  const privateKey = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----\n'

  test('is refused without being shown, wherever it stands', () => {
    const inline = sshUserCertificate.problems({ ...base, publicKey: privateKey })
    expect(inline).toEqual([expect.stringContaining('spec.publicKey: contains a private key')])
    const spec = { ...hostBase, publicKey: undefined, publicKeyFrom: { secretKeyRef: { name: 'a', key: 'b' } } }
    const found = sshHostCertificate.inputs?.problems?.({
      ...desired(spec as unknown as SSHHostCertificateSpec),
      input: () => privateKey,
    })
    expect(found).toEqual([expect.stringContaining('spec.publicKeyFrom: contains a private key')])
    expect([...inline, ...(found ?? [])].join()).not.toContain('b3BlbnNzaC1rZXk')
  })

  test.each(['', 'ssh-ed25519', 'no key at all', `command="x" ${sshKeys.rsa}`, `${sshKeys.rsa}\n${sshKeys.rsa}`])(
    'and so is any other text: %j',
    (publicKey) => {
      expect(sshUserCertificate.problems({ ...base, publicKey })).toEqual([
        expect.stringContaining('spec.publicKey: is not a public key in authorized-keys format'),
      ])
    },
  )

  test.each(Object.entries(sshKeys))('a public key of type %s is taken, line break and all', (_type, publicKey) => {
    expect(sshUserCertificate.problems({ ...base, publicKey: `${publicKey}\r\n` })).toEqual([])
  })
})

describe('outputs', () => {
  const remote = { id: 'x_1', certificate: certificateLine() }

  function data(spec: SSHHostCertificateSpec) {
    return sshHostCertificate.output?.type === 'derived' && sshHostCertificate.output.data(desired(spec), remote)
  }

  test('of a user certificate are the file that ssh looks for next to the key', () => {
    const { output } = sshUserCertificate
    if (output?.type !== 'derived') throw new Error('a user certificate has a derived output')
    expect(output.data(desired(base), remote)).toEqual({ 'id-cert.pub': `${certificateLine()}\n` })
    expect(output.target(base, 'alice')).toBeUndefined()
    expect(output.target({ ...base, output: { secret: { name: 'a' } } }, 'alice')).toEqual({
      kind: 'Secret',
      name: 'a',
    })
    expect(output.target({ ...base, output: { configMap: { name: 'a' } } }, 'alice')).toEqual({
      kind: 'ConfigMap',
      name: 'a',
    })
  })

  test('of a host certificate also are what clients trust it by, for its names or for all', () => {
    const names = {
      ...hostBase,
      principals: ['a.example.com', 'b.example.com', '2001:db8::1'],
      output: { secret: { name: 'a' } },
    }
    expect(data(names)).toEqual({
      'ssh_host_key-cert.pub': `${certificateLine()}\n`,
      known_hosts: `@cert-authority a.example.com,b.example.com,2001:db8::1 ${authority.public_key}\n`,
    })
    const { principals: _, ...any } = { ...names, anyPrincipal: true }
    expect(data(any)).toMatchObject({ known_hosts: `@cert-authority * ${authority.public_key}\n` })
  })

  test('of a host certificate need the authority itself, which is not asked for without them', () => {
    const needs = (spec: SSHHostCertificateSpec) =>
      sshHostCertificate.references.of(spec).map(({ needsObject }) => needsObject)
    expect(needs(hostBase)).toEqual([false])
    expect(needs({ ...hostBase, output: { configMap: { name: 'a' } } })).toEqual([true])
  })

  test('of an authority are its public key for hosts and for clients', () => {
    const { output } = sshCertificateAuthority
    if (output?.type !== 'derived') throw new Error('an authority has a derived output')
    expect(output.data(desired({}), authority)).toEqual({
      'ca.pub': `${authority.public_key}\n`,
      known_hosts: `@cert-authority * ${authority.public_key}\n`,
    })
    expect(output.target({ output: { configMap: { name: 'a' } } }, 'team')).toEqual({ kind: 'ConfigMap', name: 'a' })
    expect(output.target({}, 'team')).toBeUndefined()
  })
})
