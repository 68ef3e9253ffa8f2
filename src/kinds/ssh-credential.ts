import { Type } from 'typebox'
import { collections } from '../api/collections.ts'
import { commonSpec, commonSpecRules, commonStatus } from '../managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import { object } from '../schema/define.ts'
import { defineKind, type SpecOf } from '../schema/definition.ts'
import { managedColumns, textColumn, wideColumn } from './building-blocks/columns.ts'
import { available, inCollection, managedKind, plain, plainFields } from './building-blocks/plain-kind.ts'
import { given, namesOf, textOf } from './building-blocks/remote.ts'
import {
  acl,
  aclNeeds,
  aclRisks,
  aclStatus,
  comparableACL,
  shownACL,
  wantedACL,
  writtenACL,
} from './credentials/acl.ts'
import {
  ownerKind,
  ownerOf,
  ownerReferences,
  ownerRule,
  ownerSpec,
  ownerStatus,
  sentOwner,
  writtenOwner,
} from './credentials/owner.ts'
import { commentOf, comparablePublicKey } from './ssh/key-lines.ts'
import {
  publicKeyFields,
  publicKeyInputProblems,
  publicKeyInputs,
  publicKeyOf,
  publicKeyProblems,
  publicKeyReplacing,
  publicKeyRule,
} from './ssh/public-key.ts'

const definition = defineKind({
  ...managedKind,
  kind: 'SSHCredential',
  plural: 'sshcredentials',
  singular: 'sshcredential',
  shortNames: ['sshcred'],
  scope: 'Namespaced',
  description:
    'A public key that may start tunnels through the SSH gateway of the service. Changing the key creates a new credential; the old one is then deleted.',
  spec: object(
    {
      ...commonSpec('bytes'),
      ...publicKeyFields(
        'The public key; its private key is used to start the tunnels.',
        'A change creates a new credential, and the old one is then deleted.',
      ),
      acl: Type.Optional(acl),
      ...ownerSpec,
    },
    { description: 'Desired state of the credential.', rules: [...commonSpecRules, publicKeyRule, ownerRule] },
  ),
  status: object(
    { ...commonStatus, ...ownerStatus, ...aclStatus },
    { description: 'Observed state of the credential.' },
  ),
  printerColumns: managedColumns(
    textColumn('Bot', '.spec.owner.botUserRef.name', 'Name of the BotUser that owns it, if the spec names one.'),
    wideColumn('Owner', '.status.ownerID', 'Id of the user or bot that owns it.'),
    wideColumn('ACL', '.status.acl', 'What tunnels started with it may bind.'),
  ),
  replacing: publicKeyReplacing,
})

export type SSHCredentialSpec = SpecOf<typeof definition>

/** SSH credentials (`management-api.md § Access credentials`). The public key is fixed at create. */
export const sshCredential: ManagedDescriptor<SSHCredentialSpec> = {
  ...plain,
  role: 'managed',
  reach: 'namespace',
  needs: aclNeeds,
  definition,
  identity: inCollection(collections.sshCredentials),
  references: { kinds: [ownerKind], of: ownerReferences },
  inputs: { of: publicKeyInputs, problems: publicKeyInputProblems },
  problems: publicKeyProblems,
  fields: {
    ...plainFields,
    createOnly: ['owner_id', 'public_key'],
    setBy: ({ owner, acl: rules }) => namesOf({ owner_id: owner, public_key: true, acl: rules }),
    desire: (desired, remote) => ({
      owner_id: sentOwner(desired),
      public_key: publicKeyOf(desired),
      acl: wantedACL(desired.spec.acl, remote !== undefined),
    }),
    observe: (remote) => ({
      owner_id: ownerOf(remote),
      public_key: comparablePublicKey(remote.public_key),
      acl: comparableACL(remote.acl),
    }),
    comparable: (fields) => ({
      ...fields,
      public_key: comparablePublicKey(fields.public_key),
      acl: comparableACL(fields.acl),
    }),
    risks: aclRisks,
  },
  status: {
    shown: (remote) => given({ ownerID: ownerOf(remote), acl: shownACL(remote.acl) }),
    readiness: () => available('the credential is in place'),
  },
  manifest: {
    namedAfter: ({ description, public_key }) => [textOf(description), commentOf(public_key)],
    specOf: (remote, { ref }) =>
      given({
        owner: writtenOwner(remote, ref),
        publicKey: textOf(remote.public_key),
        acl: writtenACL(remote.acl),
      }),
  },
  replacement: { fields: ['public_key'], first: 'create' },
}
