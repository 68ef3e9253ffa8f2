import { expect, test } from 'vitest'
import { type SSHCredentialSpec, sshCredential } from '../../../src/kinds/ssh-credential.ts'
import { plan, planCreate } from '../../../src/managed/plan/plan.ts'
import { sshKeys } from '../../builders/contract/ssh-keys.ts'
import { stored } from '../../builders/kinds/api-model.ts'
import { desiredOf } from '../../builders/kinds/desired.ts'

const base: SSHCredentialSpec = { publicKey: sshKeys.ed25519 }
const created = (spec: SSHCredentialSpec) => planCreate(sshCredential, desiredOf({ spec }), 'marker')

function left(before: SSHCredentialSpec, spec: SSHCredentialSpec) {
  const remote = stored(created(before))
  const context = { markedMetadata: 'marker', inputsChanged: false }
  return plan(sshCredential, desiredOf({ spec }), { remote, children: [] }, context)
}

test('what the spec leaves open is left to the API, and the line break of a file is not part of the key', () => {
  expect(created({ publicKey: `${sshKeys.rsa}\n` })).toEqual({ public_key: sshKeys.rsa, metadata: 'marker' })
  const spec = { ...base, acl: ['bind:a=b', 'bind:a=b'], owner: { botUserRef: { name: 'pipeline' } } }
  expect(created(spec)).toMatchObject({ acl: ['bind:a=b'], owner_id: 'id-of-pipeline' })
})

test('another key makes another credential, another comment does not', () => {
  expect(left(base, { publicKey: sshKeys.rsa })).toEqual([{ type: 'replace', fields: ['public_key'] }])
  expect(left(base, { publicKey: sshKeys.ed25519.replace('me@laptop', 'mine') })).toEqual([])
  expect(left(base, { publicKeyFrom: { secretKeyRef: { name: 'a', key: 'id.pub' } } })).toEqual([])
  expect(left(base, { publicKeyFrom: { configMapKeyRef: { name: 'a', key: 'other.pub' } } })).toEqual([
    { type: 'replace', fields: ['public_key'] },
  ])
})

test('its rules are a set, and are taken away by the one that permits everything', () => {
  const acl = ['bind:A.example.com', 'bind:App=x']
  expect(left({ ...base, acl }, { ...base, acl: ['bind:App=x', 'bind:a.example.com'] })).toEqual([])
  expect(left({ ...base, acl }, { ...base, acl: ['bind:app=x', 'bind:a.example.com'] })).toHaveLength(1)
  expect(left({ ...base, acl }, base)).toEqual([
    { type: 'update', body: { acl: ['*'] }, fields: ['acl'], alternatives: [] },
  ])
  expect(left({ ...base, acl: ['*'] }, base)).toEqual([])
})

test('its owner stands in the status, and bots that own it are referred to', () => {
  const remote = { id: 'sshcr_1', owner_id: 'bot_1' }
  expect(sshCredential.status.shown(remote, {})).toMatchObject({ ownerID: 'bot_1' })
  expect(sshCredential.references.kinds.map(({ kind, idsIn }) => [kind, idsIn(remote)])).toEqual([
    ['BotUser', ['bot_1']],
  ])
})

test('the rules in effect stand in the status; none at the API permit everything', () => {
  const acl = (rules: unknown) => sshCredential.status.shown({ id: 'sshcr_1', acl: rules }, {}).acl
  expect(acl(['bind:app=Shop', 'bind:A.example.com'])).toEqual(['bind:a.example.com', 'bind:app=Shop'])
  for (const none of [undefined, null, [], ['*']]) expect(acl(none)).toEqual(['*'])
})

test('a private key is refused before anything is sent', () => {
  const spec: SSHCredentialSpec = { publicKeyFrom: { secretKeyRef: { name: 'a', key: 'id' } } }
  const desired = { ...desiredOf({ spec }), input: () => '-----BEGIN OPENSSH PRIVATE KEY-----' }
  expect(sshCredential.inputs?.problems?.(desired)).toEqual([expect.stringContaining('contains a private key')])
})
