import fc from 'fast-check'
import { sshKeys } from '../../builders/contract/ssh-keys.ts'
import { list, sorted } from '../../builders/declared/forms.ts'
import type { Declared, Held, Ref, Resolved } from '../../builders/declared/types.ts'
import type { Body, CollectionTestData, Edit, MakeSample, ManagedKindTestData, Refusal } from '../kind-test-data.ts'
import { fromConfigMap, fromSecret, keyOf } from './account.ts'
import { asList } from './drifts.ts'
import { another, patch, quiet } from './edits.ts'
import { need } from './objects.ts'
import { refuse, refuseChange } from './refusals.ts'
import { same } from './texts.ts'

/** An owner by name, and the bot that it names. */
export const ownedByBot = {
  owner: (name: string) => ({ owner: { botUserRef: { name: `${name}-bot` } } }),
  needs: (name: string) => [need.bot(`${name}-bot`)],
}

export const ownerSample: MakeSample = async (world) => same(await world.ownUserId())

export const ownerPlaces: ManagedKindTestData['places'] = {
  'spec.owner': fc.constantFrom({ botUserRef: { name: 'build' } }, { id: 'bot_deploy' }),
}

export const ownerRefusal: Refusal = refuseChange(
  'with another owner',
  { owner: { id: 'usr_1' } },
  'owner is immutable: delete',
)

/** If a spec sets no owner, it is the user of the account's key. */
export function declaredOwner({ owner }: Body, { object }: Held, { id }: Resolved): readonly Declared[] {
  if (owner === undefined) return []
  const { botUserRef, ...byID } = owner as Body
  return [['owner_id', id('BotUser', (botUserRef ?? byID) as Ref), object.owner_id]]
}

export const aclEdits: readonly Edit[] = [
  patch('acl', { acl: ['bind:app=shop'] }, { acl: ['bind:app=shop'] }),
  patch(
    'acl',
    { acl: ['bind:*.edit.tunnel.example', 'bind:a.example:1'] },
    { acl: ['bind:*.edit.tunnel.example', 'bind:a.example:1'] },
  ),
  patch('acl', { acl: undefined }, { acl: ['*'] }),
]

export const aclDrifts: CollectionTestData['drifts'] = {
  acl: [
    ({ acl }) => ({ acl: asList(acl).length === 0 ? ['bind:other.tunnel.example'] : [] }),
    () => ({ acl: ['bind:*=*'] }),
  ],
}

export const aclRefusals: readonly Refusal[] = [
  refuse('with a rule that is none', { acl: ['bind:'] }, 'acl accepts rules of the form bind:<domain>, bind:<host>'),
  ...['\n', '\u0000', '\u009b', '\u202e', '\u2028'].map((misleading) => {
    return refuse(
      `with ${JSON.stringify(misleading)}`,
      { acl: [`bind:a=${misleading}`] },
      'acl has a control character',
    )
  }),
  refuse('with * next to others', { acl: ['*', 'bind:a=b'] }, 'acl contains both * and other rules, which * makes'),
]

export const aclPlaces: ManagedKindTestData['places'] = {
  'spec.acl[]': fc.oneof(
    fc.constant('*'),
    fc.constantFrom('bind:*.Tunnel.example', 'bind:shop.tunnel.example', 'bind:Shop.tunnel.example'),
    fc.constantFrom('bind:1.tcp.tunnel.example:20000', 'bind:1.TCP.tunnel.example:20000'),
    fc.constantFrom('bind:app=*', 'bind:App=shop', 'bind:*=shop', 'bind:a b='),
  ),
}

/** `*` is equivalent to no rule (`management-api.md § Access credentials`, ACL rule 6). */
export function declaredACL(spec: Body, { object }: Held): Declared {
  const form = (rules: unknown): readonly unknown[] => {
    const texts = (list(rules) as readonly string[]).map((rule) => (rule.includes('=') ? rule : rule.toLowerCase()))
    return texts.length === 1 && texts[0] === '*' ? [] : sorted([...new Set(texts)])
  }
  return ['acl', form(spec.acl), form(object.acl)]
}

/** Every way to change the public key; `others` are the fields in which a new object also differs. */
export function publicKeyEdits(others: (type: string) => Body): readonly Edit[] {
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

export const publicKeyPlaces: ManagedKindTestData['places'] = {
  'spec.publicKey': fc.constantFrom(
    sshKeys.ed25519,
    `${sshKeys.ed25519}\n`,
    sshKeys.ed25519.replace(' me@laptop', ''),
    sshKeys.rsa,
    sshKeys.ecdsa384,
  ),
  'spec.publicKeyFrom.secretKeyRef': keyOf('id.pub', 'other.pub'),
  'spec.publicKeyFrom.configMapKeyRef': keyOf('id.pub', 'other.pub'),
}
