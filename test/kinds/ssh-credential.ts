import { sshKeys } from '../builders/contract/ssh-keys.ts'
import { given, keyOf } from '../builders/declared/forms.ts'
import type { ManagedKindTestData } from './kind-test-data.ts'
import { fromSecret } from './shared/account.ts'
import {
  aclDrifts,
  aclEdits,
  aclPlaces,
  aclRefusals,
  declaredACL,
  declaredOwner,
  ownedByBot,
  ownerPlaces,
  ownerRefusal,
  ownerSample,
  publicKeyEdits,
  publicKeyPlaces,
} from './shared/credentials.ts'
import { story } from './shared/edits.ts'
import { bare, shownWorded, worded } from './shared/objects.ts'
import { managedRefusals, refuse } from './shared/refusals.ts'
import { pick, textEdits, textRefusals, withTexts } from './shared/texts.ts'

const key = { name: 'a', key: 'b' }

export const sshCredential: ManagedKindTestData = {
  kind: 'SSHCredential',
  accepted: {
    publicKey: sshKeys.rsa,
    acl: ['bind:1.tcp.example.com:20000'],
    owner: { botUserRef: { name: 'pipeline' } },
  },
  refusals: [
    ...managedRefusals,
    ...textRefusals,
    ...aclRefusals,
    ownerRefusal,
    refuse('without public key', { publicKey: undefined }, 'set exactly one of publicKey, publicKeyFrom'),
    refuse('with no public key as public key', { publicKey: 'x' }, 'publicKey is not in authorized-keys'),
    refuse('with an owner by no name', { owner: {} }, 'set exactly one of botUserRef, id'),
    refuse(
      'with a public key from two places',
      { publicKey: undefined, publicKeyFrom: { secretKeyRef: key, configMapKeyRef: key } },
      'set exactly one of secretKeyRef, configMapKeyRef',
    ),
  ],
  specs: {
    minimal: {
      spec: () => ({ publicKey: sshKeys.ed25519 }),
      object: ({ ownUser }) => ({ ...bare, public_key: sshKeys.ed25519, acl: [], owner_id: ownUser }),
    },
    full: {
      spec: (name) => ({
        ...worded(name),
        publicKey: `${sshKeys.ecdsa384}\n`,
        acl: ['bind:*.tunnel.example', 'bind:App=*'],
        ...ownedByBot.owner(name),
      }),
      needs: ownedByBot.needs,
      object: ({ id, name }) => ({
        ...shownWorded(name),
        public_key: sshKeys.ecdsa384,
        acl: ['bind:*.tunnel.example', 'bind:App=*'],
        owner_id: id('BotUser', `${name}-bot`),
      }),
    },
    'from a Secret': {
      spec: () => ({ publicKeyFrom: fromSecret('publicKey') }),
      object: ({ ownUser }) => ({ ...bare, public_key: sshKeys.rsa, acl: [], owner_id: ownUser }),
    },
  },
  edits: [
    story('key', { publicKey: sshKeys.ed25519 }, [...textEdits, ...aclEdits, ...publicKeyEdits(() => ({ acl: [] }))]),
  ],
  collections: {
    ssh_credentials: withTexts({
      samples: {
        public_key: pick(sshKeys.ed25519, sshKeys.rsa),
        acl: pick(['bind:app=*'], ['bind:App.tunnel.example', 'bind:*=*']),
        owner_id: ownerSample,
      },
      drifts: aclDrifts,
      stranger: () => ({ public_key: sshKeys.ed25519 }),
    }),
  },
  places: { ...publicKeyPlaces, ...aclPlaces, ...ownerPlaces },
  declares: (spec, held, resolved) => [
    ...declaredOwner(spec, held, resolved),
    declaredACL(spec, held),
    ['public_key', keyOf(given(spec, 'publicKey', resolved)), keyOf(held.object.public_key)],
  ],
}
