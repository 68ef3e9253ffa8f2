import { Type } from 'typebox'
import { collections } from '../api/collections.ts'
import {
  commonSpec,
  commonSpecRules,
  commonStatus,
  outputStatus,
  rotationStatus,
} from '../managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import { object } from '../schema/define.ts'
import { defineKind, type SpecOf } from '../schema/definition.ts'
import { managedColumns, textColumn, wideColumn } from './building-blocks/columns.ts'
import { inCollection, managedKind, plain, plainFields } from './building-blocks/plain-kind.ts'
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
import { outputProblems } from './credentials/output-place.ts'
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
import { tokenConditions, tokenFields, tokenOutput, tokenReadiness, tokenRotation } from './credentials/token.ts'

const definition = defineKind({
  ...managedKind,
  kind: 'TunnelCredential',
  plural: 'tunnelcredentials',
  singular: 'tunnelcredential',
  shortNames: ['tcred'],
  scope: 'Namespaced',
  description:
    'A credential whose token agents use to start tunnel sessions. The token is written to a Secret; if it is lost or altered there, a new credential replaces this one.',
  spec: object(
    { ...commonSpec('bytes'), acl: Type.Optional(acl), ...ownerSpec, ...tokenFields },
    { description: 'Desired state of the credential.', rules: [...commonSpecRules, ownerRule] },
  ),
  status: object(
    { ...commonStatus, ...outputStatus, ...rotationStatus, ...ownerStatus, ...aclStatus },
    { description: 'Observed state of the credential.' },
  ),
  printerColumns: managedColumns(
    textColumn('Secret', '.status.output.name', 'Secret with the token.'),
    wideColumn('Rotates', '.status.nextRotationAt', 'When the next token is issued.'),
    wideColumn('Owner', '.status.ownerID', 'Id of the user or bot that owns it.'),
    wideColumn('ACL', '.status.acl', 'What tunnels started with it may bind.'),
  ),
  conditions: tokenConditions,
})

export type TunnelCredentialSpec = SpecOf<typeof definition>

/** Tunnel credentials (`management-api.md § Access credentials`). */
export const tunnelCredential: ManagedDescriptor<TunnelCredentialSpec> = {
  ...plain,
  role: 'managed',
  reach: 'namespace',
  needs: aclNeeds,
  definition,
  identity: inCollection(collections.credentials),
  references: { kinds: [ownerKind], of: ownerReferences },
  problems: outputProblems,
  fields: {
    ...plainFields,
    createOnly: ['owner_id'],
    setBy: ({ owner, acl: rules }) => namesOf({ owner_id: owner, acl: rules }),
    desire: (desired, remote) => ({
      owner_id: sentOwner(desired),
      acl: wantedACL(desired.spec.acl, remote !== undefined),
    }),
    observe: (remote) => ({ owner_id: ownerOf(remote), acl: comparableACL(remote.acl) }),
    comparable: (fields) => (fields.acl === undefined ? fields : { ...fields, acl: comparableACL(fields.acl) }),
    risks: aclRisks,
  },
  status: {
    shown: (remote) => given({ ownerID: ownerOf(remote), acl: shownACL(remote.acl) }),
    readiness: (view) => tokenReadiness('the token is in its Secret', view),
  },
  manifest: {
    namedAfter: ({ description }) => [textOf(description)],
    specOf: (remote, { ref }) => given({ owner: writtenOwner(remote, ref), acl: writtenACL(remote.acl) }),
  },
  rotation: tokenRotation,
  output: tokenOutput,
}
