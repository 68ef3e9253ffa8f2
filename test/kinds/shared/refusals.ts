import type { Body, Refusal } from '../kind-test-data.ts'

/** A new resource that is refused. */
export function refuse(because: string, change: Body, message: string): Refusal {
  return { because, change, message }
}

/** A change that is refused, of a resource with the accepted spec but for `before`. */
export function refuseChange(because: string, change: Body, message: string, before: Body = {}): Refusal {
  return { because, change, message, before }
}

const account = { kind: 'Account', name: 'default' }

/** Refused by every managed kind. */
export const managedRefusals: readonly Refusal[] = [
  refuseChange(
    'in another account than before',
    { accountRef: { ...account, name: 'other' } },
    'accountRef is immutable',
    { accountRef: account },
  ),
  refuse(
    'with an object that exists already and no policy',
    { externalID: 'x_1' },
    'managementPolicy is required with externalID: set Observe',
  ),
  refuse(
    'with an id that would drive a terminal',
    { externalID: 'x_1\u001b[2J', managementPolicy: 'Observe' },
    'externalID must be an id of printable ASCII characters without spaces',
  ),
  refuse(
    'with an account of no possible name',
    { accountRef: { ...account, name: 'a\nb' } },
    'name must be the name of an object: lower-case letters',
  ),
]

/** Refused by every kind that can grant references to others. */
export const grantRefusals: readonly Refusal[] = [
  refuse('with a grant to nobody', { allowedReferences: [{}] }, 'set exactly one of namespaces, namespaceSelector'),
  refuse(
    'with a grant by long labels',
    {
      allowedReferences: [
        { namespaceSelector: { matchLabels: { ['a'.repeat(300)]: 'x'.repeat(63), b: 'x'.repeat(63) } } },
      ],
    },
    'matchLabels must have at most 384 bytes in total as JSON: shorten it',
  ),
]

/** An id belongs to the account, whatever the namespace: `change` puts the given reference into the spec. */
export function crossingRefusal(change: (ofAnother: Body) => Body): Refusal {
  return refuse(
    'with a namespace next to an id',
    change({ namespace: 'other', id: 'x_1' }),
    'namespace requires name: set name, or remove namespace',
  )
}

/** Refused by both kinds of account. */
export function accountRefusals(sessions: Body = {}): readonly Refusal[] {
  return [
    refuseChange('with another base URL', { baseURL: 'https://b.example.com' }, 'baseURL is immutable: delete'),
    refuse(
      'with sessions listed too often',
      { mirrorSessions: { enabled: true, interval: '0s', ...sessions } },
      'interval must be from 1s to 24h: write it as',
    ),
    refuse('with an address that is no URL', { baseURL: 'api.example.com' }, 'baseURL must be an https URL without'),
    refuse('with a CA bundle that is no PEM', { caBundle: 'x' }, 'caBundle contains no certificate: set'),
    refuse('with a version header of another use', { versionHeader: 'Authorization' }, 'versionHeader is a header'),
    refuse('with a resync too often', { resyncInterval: '0s' }, 'resyncInterval must be from 1s to 24h: write'),
    refuse('with a resync too seldom', { resyncInterval: '25h' }, 'resyncInterval must be from 1s to 24h: write'),
  ]
}
