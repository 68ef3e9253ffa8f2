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
import { keyOutput, tokenConditions, tokenFields, tokenReadiness, tokenRotation } from './credentials/token.ts'

const definition = defineKind({
  ...managedKind,
  kind: 'APIKey',
  plural: 'apikeys',
  singular: 'apikey',
  pluralSharedWith: "Crossplane's AWS provider",
  shortNames: [],
  scope: 'Namespaced',
  description:
    'A key that authenticates calls to the management API of the service. Its token is written to a Secret; if it is lost or altered there, a new key replaces this one.',
  spec: object(
    { ...commonSpec('bytes'), ...ownerSpec, ...tokenFields },
    { description: 'Desired state of the key.', rules: [...commonSpecRules, ownerRule] },
  ),
  status: object(
    { ...commonStatus, ...outputStatus, ...rotationStatus, ...ownerStatus },
    { description: 'Observed state of the key.' },
  ),
  printerColumns: managedColumns(
    textColumn('Secret', '.status.output.name', 'Secret with the token.'),
    wideColumn('Rotates', '.status.nextRotationAt', 'When the next token is issued.'),
    wideColumn('Owner', '.status.ownerID', 'Id of the user or bot that owns it.'),
  ),
  conditions: tokenConditions,
})

export type APIKeySpec = SpecOf<typeof definition>

/** API keys (`management-api.md § Access credentials`). */
export const apiKey: ManagedDescriptor<APIKeySpec> = {
  ...plain,
  role: 'managed',
  reach: 'account',
  definition,
  identity: inCollection(collections.apiKeys),
  references: { kinds: [ownerKind], of: ownerReferences },
  problems: outputProblems,
  fields: {
    ...plainFields,
    createOnly: ['owner_id'],
    setBy: ({ owner }) => namesOf({ owner_id: owner }),
    desire: (desired) => ({ owner_id: sentOwner(desired) }),
    observe: (remote) => ({ owner_id: ownerOf(remote) }),
  },
  status: {
    shown: (remote) => given({ ownerID: ownerOf(remote) }),
    readiness: (view) => tokenReadiness('the key is in its Secret', view),
  },
  manifest: {
    namedAfter: ({ description }) => [textOf(description)],
    specOf: (remote, { ref }) => given({ owner: writtenOwner(remote, ref) }),
  },
  rotation: tokenRotation,
  output: keyOutput,
}
