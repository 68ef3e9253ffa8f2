import { expect, test } from 'vitest'
import type { AccountKey, AccountResource } from '../../../../src/managed/account-resource.ts'
import type { KeptKeys } from '../../../../src/managed/accounts/kept-key.ts'
import { KeysInUse } from '../../../../src/managed/accounts/keys-in-use.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import { tokenFingerprint } from '../../../../src/managed/outputs/held-token.ts'
import { Fingerprints } from '../../../../src/managed/run/fingerprints.ts'
import { cr } from '../../../builders/custom-resource.ts'
import { mirroredAccount } from '../../../builders/sessions.ts'

const fingerprints = new Fingerprints(Buffer.alloc(32, 1))
const issuer: CustomResource = { ...cr({ name: 'ci', uid: 'issuer' }), kind: 'APIKey' }
const member = cr({ name: 'web' })

/** Accounts by name, each with its current key, and whether it is at the API of the issuer. */
function keysOf(accounts: Readonly<Record<string, { readonly key: string; readonly beside: boolean }>>): KeysInUse {
  const kept = { read: async (uid: string) => accounts[uid.replace('uid-', '')]?.key } as KeptKeys
  const resources = {
    accounts: (): readonly AccountResource[] => Object.keys(accounts).map((name) => mirroredAccount(name)),
    all: () => [issuer, member],
    membersOf: ({ name }: AccountKey) => (name === 'needed' ? [issuer, member] : [issuer]),
    isBeside: (_: CustomResource, { name }: AccountKey) => accounts[name]?.beside ?? false,
  }
  return new KeysInUse(kept, resources, fingerprints)
}

const digestOf = (token: string) => tokenFingerprint(fingerprints, token, 'ak_1')

test('an account works with the key of an object whose token is its own, whatever else is called so elsewhere', async () => {
  const keys = keysOf({ other: { key: 'two', beside: true }, own: { key: 'one', beside: true } })
  expect(await keys.dependentOf(issuer, 'ak_1', digestOf('one'))).toBe('Account/own')
  expect(await keys.dependentOf(issuer, 'ak_2', digestOf('one'))).toBeUndefined()
  expect(await keys.dependentOf(issuer, 'ak_1', digestOf('three'))).toBeUndefined()
})

test('where nobody can tell whose a key is, it is one of the accounts at the same API, and of no other', async () => {
  const hostile = { key: 'anything', beside: false }
  expect(await keysOf({ hostile }).dependentOf(issuer, 'ak_1', undefined)).toBeUndefined()
  expect(await keysOf({ hostile }).useOf(issuer, 'ak_1', undefined)).toBeUndefined()
  const keys = keysOf({ hostile, second: { key: 'some', beside: true } })
  expect(await keys.dependentOf(issuer, 'ak_1', undefined)).toBe('Account/second')
  const salted = tokenFingerprint(new Fingerprints(Buffer.alloc(32, 2)), 'some', 'ak_1')
  expect(await keys.dependentOf(issuer, 'ak_1', salted)).toBe('Account/second')
  expect(await keysOf({ hostile }).dependentOf(issuer, 'ak_1', salted)).toBeUndefined()
})

test('of two accounts that one key opens, the one that others need is reported', async () => {
  const keys = keysOf({ idle: { key: 'one', beside: true }, needed: { key: 'one', beside: true } })
  expect(await keys.useOf(issuer, 'ak_1', digestOf('one'))).toEqual({
    account: { kind: 'Account', namespace: 'shop', name: 'needed' },
    neededBy: [member],
  })
})
