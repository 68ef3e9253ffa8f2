import fc from 'fast-check'
import { expect } from 'vitest'
import { durationMs } from '../../../src/util/time.ts'
import { sshKeys } from '../../builders/contract/ssh-keys.ts'
import { given, keyOf, list, seconds, sorted } from '../../builders/declared/forms.ts'
import type { Declared, Held, Ref, Resolved } from '../../builders/declared/types.ts'
import { moment } from '../../builders/schema-specs.ts'
import type {
  Body,
  CollectionTestData,
  Edit,
  IdOf,
  ManagedKindTestData,
  Refusal,
  Surrounding,
} from '../kind-test-data.ts'
import { ref } from './account.ts'
import { publicKeyEdits, publicKeyPlaces } from './credentials.ts'
import { another, given as givenObject, quiet, sets } from './edits.ts'
import { need, time } from './objects.ts'
import { outputPlaces, outputRefusals, outputSpecs } from './outputs.ts'
import { crossingRefusal, managedRefusals, refuse } from './refusals.ts'
import { pick, same, textRefusals, withTexts } from './texts.ts'

/** Fields of a spec and of its object, and the authority that both name. */
export const signed = {
  by: (name: string) => ({ sshCertificateAuthorityRef: { name: `${name}-authority` } }),
  shownBy: ({ id, name }: Surrounding): Body => ({
    ssh_certificate_authority_id: id('SSHCertificateAuthority', `${name}-authority`),
  }),
  needs: (name: string) => [need.sshAuthority(`${name}-authority`)],
}

export const opensshLine = (type: string) => expect.stringMatching(new RegExp(`^${type} [A-Za-z0-9+/=]+$`))
export const certificateLine = (type: string) =>
  expect.stringMatching(new RegExp(`^${type}-cert-v01@openssh\\.com [A-Za-z0-9+/=]+`))

export const validity = { validAfter: '2026-01-01T02:00:00.5+02:00', validUntil: '2099-12-31T23:59:59.999Z' }
/** Its times as UTC in whole seconds. */
export const fixedTimes = { valid_after: '2026-01-01T00:00:00Z', valid_until: '2099-12-31T23:59:59Z' }
export const issuedNow = { valid_after: time, valid_until: time }

const march = { valid_after: '2026-03-01T00:00:00Z' }
const anew = { certificate: expect.any(String), valid_after: expect.any(String), valid_until: expect.any(String) }

/** A change that signs the certificate anew. */
export const again = (spec: Body, object: Body | ((id: IdOf) => Body) = {}): Edit =>
  another(spec, (id) => ({ ...anew, ...givenObject(object)(id) }))

/** Edits of both kinds of certificate; each signs it anew, except a change of its destination. */
export const certificateEdits: readonly Edit[] = [
  again({ sshCertificateAuthorityRef: { name: 'other' } }, (id) => ({
    ssh_certificate_authority_id: id('SSHCertificateAuthority', 'other'),
  })),
  ...publicKeyEdits((key_type) => ({ key_type, ...anew })),
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
  ...quiet({ validAfter: '2026-03-01t00:00:00z' }),
  again({ validUntil: '2099-01-01T00:00:00.9Z' }, { ...march, valid_until: '2099-01-01T00:00:00Z' }),
  again({ validUntil: undefined, validFor: '80000h' }, { ...march, valid_until: '2035-04-16T08:00:00Z' }),
  again({ validFor: '72000h' }, { ...march, valid_until: '2034-05-18T00:00:00Z' }),
  ...quiet({ validAfter: undefined }),
  again({ validFor: undefined }),
  ...quiet({ renewBefore: '1h' }, { renewBefore: '30m' }, { renewBefore: undefined }),
  ...quiet(...outputSpecs('secret'), ...outputSpecs('configMap'), { output: undefined }),
]

/** Refused by both kinds of certificate. */
export const certificateRefusals: readonly Refusal[] = [
  ...managedRefusals,
  ...textRefusals,
  ...outputRefusals('secret'),
  ...outputRefusals('configMap'),
  crossingRefusal((ofAnother) => ({ sshCertificateAuthorityRef: ofAnother })),
  refuse('with an authority by no name', { sshCertificateAuthorityRef: {} }, 'set exactly one of name, id'),
  refuse('without public key', { publicKey: undefined }, 'set exactly one of publicKey, publicKeyFrom'),
  refuse('with no public key as public key', { publicKey: 'x' }, 'publicKey is not in authorized-keys format: give'),
  refuse(
    'with a public key from nowhere',
    { publicKey: undefined, publicKeyFrom: {} },
    'set exactly one of secretKeyRef, configMapKeyRef',
  ),
  refuse('without principals', { principals: undefined }, 'principals is empty, which makes the certificate valid'),
  refuse('with empty principals', { principals: [] }, 'name them, or set anyPrincipal: true'),
  refuse(
    'for all and for some',
    { anyPrincipal: true },
    'anyPrincipal: true cannot be set together with principals: remove',
  ),
  refuse(
    'with an end and a length',
    { validUntil: '2027-01-01T00:00:00Z', validFor: '1h' },
    'set at most one of validUntil, validFor',
  ),
  refuse(
    'that ends as it begins',
    { validAfter: '2026-01-01T00:00:00Z', validUntil: '2026-01-01T01:00:00+01:00', validFor: undefined },
    'validUntil must be after validAfter: correct',
  ),
  refuse('that begins on a day alone', { validAfter: '2026-01-01' }, 'validAfter must be an RFC 3339 time, such as'),
  refuse('that begins before all time', { validAfter: '1969-12-31T23:59:59Z' }, 'validAfter is before 1970'),
  refuse(
    'that ends before all time',
    { validAfter: undefined, validUntil: '1969-12-31T23:59:59Z', validFor: undefined },
    'validUntil is before 1970',
  ),
  refuse(
    'renewed as soon as it is issued',
    { validAfter: undefined, validFor: '12h', renewBefore: '38881s' },
    'renewBefore must be at most nine tenths of validFor',
  ),
  refuse(
    'renewed long before a length that is not set',
    { validAfter: undefined, validFor: undefined, renewBefore: '8760h' },
    'renewBefore must be at most nine tenths of validFor',
  ),
  refuse(
    'renewed although its end is fixed',
    { validAfter: undefined, validFor: undefined, validUntil: '2099-01-01T00:00:00Z', renewBefore: '1h' },
    'renewBefore cannot be set together with validAfter or validUntil',
  ),
  refuse(
    'renewed although its start is fixed',
    { validAfter: '2026-01-01T00:00:00Z', renewBefore: '1h' },
    'renewBefore cannot be set together with validAfter or validUntil',
  ),
  refuse(
    'renewed when it has expired',
    { validAfter: undefined, renewBefore: '0s' },
    'renewBefore must be from 1s to 87600h: write',
  ),
  refuse('for no time', { validFor: '0s' }, 'validFor must be from 1s to 87600h: write'),
  refuse('for longer than ten years', { validFor: '87601h' }, 'validFor must be from 1s to 87600h: write'),
  refuse(
    'with outputs in two places',
    { output: { secret: { name: 'a' }, configMap: { name: 'b' } } },
    'set exactly one of secret, configMap',
  ),
]

/** The end is after every start, and in the future: an expired certificate is refused (`api-decisions.md § Values`). */
export const certificatePlaces: ManagedKindTestData['places'] = {
  ...publicKeyPlaces,
  ...outputPlaces('secret', 'configMap'),
  'spec.sshCertificateAuthorityRef': ref(['team'], ['sshca_third']),
  'spec.validAfter': moment(1971, 2050),
  'spec.validUntil': moment(2060, 2099),
  // None ends, or is renewed, during a test.
  'spec.validFor': fc.constantFrom('25h', '30h15m', '200000s', '8760h', '87600h'),
  'spec.renewBefore': fc.constantFrom('1s', '90m', '12h', '21h36m'),
}

/** The collection of either kind, with the samples of its own fields. */
export function certificateCollection(samples: CollectionTestData['samples'] = {}): CollectionTestData {
  return withTexts({
    samples: {
      public_key: pick(sshKeys.ed25519, sshKeys.rsa),
      ssh_certificate_authority_id: async (world) =>
        same((await world.api.create('ssh_certificate_authorities', {})).id),
      principals: pick(['web', 'www.example.org', '192.0.2.1'], []),
      valid_after: pick('2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'),
      valid_until: pick('2099-01-01T00:00:00Z', '2099-02-01T00:00:00Z'),
      ...samples,
    },
    madeAnew: ['certificate', 'valid_after', 'valid_until'],
    stranger: async (_number, of) => ({
      ssh_certificate_authority_id: await of('ssh_certificate_authorities'),
      public_key: sshKeys.ed25519,
    }),
  })
}

/** What a spec of either kind declares; `length` is that of a certificate whose spec gives none. */
export function declaredCertificate(spec: Body, held: Held, resolved: Resolved, length: string): readonly Declared[] {
  const { object } = held
  const { sshCertificateAuthorityRef, principals, validAfter, validUntil, validFor = length } = spec
  const [after, until] = [Date.parse(String(object.valid_after)), Date.parse(String(object.valid_until))]
  const start: readonly Declared[] = validAfter === undefined ? [] : [['valid_after', seconds(validAfter), after]]
  const end: Declared =
    validUntil === undefined
      ? ['length', durationMs(String(validFor)), until - after]
      : ['valid_until', seconds(validUntil), until]
  return [
    [
      'ssh_certificate_authority_id',
      resolved.id('SSHCertificateAuthority', sshCertificateAuthorityRef as Ref),
      object.ssh_certificate_authority_id,
    ],
    ['public_key', keyOf(given(spec, 'publicKey', resolved)), keyOf(object.public_key)],
    ['principals', sorted(list(principals)), sorted(list(object.principals))],
    ...start,
    end,
  ]
}

/** A line of a published file. */
export const line = (text: unknown): string => `${String(text).trim()}\n`

/** A line of `known_hosts` that trusts an authority for these hosts. */
export const trusted = (hosts: readonly string[], key: unknown): string =>
  line(`@cert-authority ${hosts.length === 0 ? '*' : hosts.join(',')} ${String(key).trim()}`)
