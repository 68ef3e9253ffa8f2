import { type Static, Type } from 'typebox'
import { bool, bytesText, choice, integer, list, object, text, timestamp } from '../../schema/define.ts'
import { atMostOne, exactlyOne, type Rule } from '../../schema/rules.ts'
import { RECONCILE_REQUESTED_AT, ROTATE_REQUESTED_AT } from '../names.ts'
import { answerTo } from './answer.ts'
import { internalStatus } from './internal.ts'
import { OWN_METADATA_BYTES, type OwnMetadata, ownMetadata } from './metadata.ts'

/** A name of a Kubernetes object, as long as the apiserver allows one. */
export function objectName(description: string) {
  return text({ description, minLength: 1, maxLength: 253 })
}

const accountRef = object(
  {
    kind: Type.Optional(
      choice(['Account', 'ClusterAccount'], {
        description: 'Kind of the account. Default: Account.',
        default: 'Account',
      }),
    ),
    name: objectName('Name of the Account in the same namespace, or of the ClusterAccount.'),
  },
  {
    description:
      'The account this resource lives in. Default: the Account `default` of the namespace, else the ClusterAccount `default`. Fixed once used.',
  },
)

const deletionPolicy = choice(['Delete', 'Retain'], {
  description:
    'What happens to the remote object when this resource is deleted: Delete removes it; Retain leaves it as it is and makes no API call. Default: Delete for an object that Culvert created, Retain for one that it adopted (`externalID`). An object that is only observed is always retained.',
})

const managementPolicy = choice(['Manage', 'Observe'], {
  description:
    'Manage: the object is created (or adopted, with `externalID`) and kept in line with this spec. Observe: it is only read, and the condition Synced says how it differs; nothing is written or deleted. Required with `externalID`. Default: Manage.',
})

const externalID = text({
  description:
    'Id of an object that already exists at the API. It is observed or adopted, as `managementPolicy` says, and no other object is created. An adopted object stays at the API when this resource is deleted, unless `deletionPolicy` is Delete. Fixed while this resource holds an object. Default: none; Culvert creates the object.',
  minLength: 1,
  maxLength: 255,
})

/** What every managed kind shares, whatever its objects can hold. */
export const bareSpec = {
  managementPolicy: Type.Optional(managementPolicy),
  externalID: Type.Optional(externalID),
  accountRef: Type.Optional(accountRef),
  deletionPolicy: Type.Optional(deletionPolicy),
}

/** `bareSpec` with `description`, `metadata` and `rawMetadata` and their limits (`management-api.md § Limits`). */
export function commonSpec(limits: TextLimits) {
  return {
    ...bareSpec,
    description: Type.Optional(
      limitedText('description', limits, { description: 'Free text shown beside the object. Default: empty.' }),
    ),
    metadata: ownMetadata({
      bytes: OWN_METADATA_BYTES,
      description:
        "Your own data, as keys and texts. In the metadata of the object they stand beside Culvert's mark, in one JSON object. An adopted object has no mark: these keys are set in its metadata, and everything else there stays. Default: none.",
    }),
    rawMetadata: Type.Optional(
      limitedText('rawMetadata', limits, {
        description:
          "The object's metadata, to the byte, in place of `metadata` and of Culvert's mark. Without the mark the object is known by the status and one annotation of this resource only: if both are lost, for example when it is recreated from Git, a second object is created, and an Event says so. A JSON object with a top-level `culvert` key is refused.",
      }),
    ),
  }
}

/** In which unit the contract limits `description` and `metadata`; a map of own data is small enough for all. Backends have no stated limit; only the body limit bounds them. */
export type TextLimits = 'bytes' | 'characters' | 'unstated'

const DESCRIPTION = 255
const METADATA = 4096
/** Well below the 1 MiB body limit, so that both texts fit into one request. */
const UNSTATED = 32_768

function limitedText(
  field: 'description' | 'rawMetadata',
  limits: TextLimits,
  options: { readonly description: string },
) {
  const limit = field === 'description' ? DESCRIPTION : METADATA
  switch (limits) {
    case 'bytes':
      return bytesText(field, limit, { description: `${options.description} At most ${limit} bytes.` })
    case 'characters':
      return text({ description: `${options.description} At most ${limit} characters.`, maxLength: limit })
    case 'unstated':
      return text({
        description: `${options.description} At most ${UNSTATED} characters.`,
        maxLength: UNSTATED,
      })
  }
}

const SAME_EXTERNAL_ID =
  'has(self.spec.externalID) == has(oldSelf.spec.externalID) && (!has(self.spec.externalID) || self.spec.externalID == oldSelf.spec.externalID)'
const NAMES_HELD_OBJECT =
  'has(self.spec.externalID) && has(oldSelf.status.id) && self.spec.externalID == oldSelf.status.id'

/** Rules over the whole of a spec with the fields of `bareSpec`. */
export const bareSpecRules: readonly Rule[] = [
  {
    rule: '!has(oldSelf.accountRef) || (has(self.accountRef) && self.accountRef == oldSelf.accountRef)',
    message: 'accountRef is fixed once used: delete this resource and create it anew in the other account',
    fieldPath: '.accountRef',
    reason: 'FieldValueForbidden',
  },
  {
    rule: '!has(self.externalID) || has(self.managementPolicy)',
    message:
      'managementPolicy is required with externalID: set Observe to see in what the object differs from this spec, or Manage to adopt it',
    fieldPath: '.managementPolicy',
    reason: 'FieldValueRequired',
  },
]

/** Rules over the whole resource that every managed kind shares. */
export const commonRootRules: readonly Rule[] = [
  {
    // Once an object is held, the spec has to go on naming it: a resource that lost its status would otherwise create a second one.
    rule: `!has(oldSelf.status) || !has(oldSelf.status.internal) || !has(oldSelf.status.internal.create) || (${SAME_EXTERNAL_ID}) || (${NAMES_HELD_OBJECT})`,
    message:
      'spec.externalID is fixed while this resource holds an object: leave it as it was, or set it to status.id. To have another object, delete this resource (what was adopted stays at the API) and create it anew',
    fieldPath: '.spec.externalID',
    reason: 'FieldValueForbidden',
  },
]

/** Rules over the whole of a spec with the fields of `commonSpec`. */
export const commonSpecRules: readonly Rule[] = [...bareSpecRules, atMostOne(['metadata', 'rawMetadata'])]

/** `Ready`, or a word below a domain, as `example.com/Ready`. */
const CONDITION_TYPE =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$'

/** A condition with the bounds and patterns of metav1.Condition. */
export const condition = object(
  {
    type: text({
      description: 'Ready, Synced, Reconciling, Stalled, or one of the kind.',
      maxLength: 316,
      pattern: CONDITION_TYPE,
    }),
    status: choice(['True', 'False', 'Unknown'], { description: 'Whether it holds.' }),
    reason: text({
      description: 'For programs: one of a fixed set of words.',
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    }),
    message: text({
      description: 'For people: what is the case, and what to do. Stable while nothing changes.',
      maxLength: 32768,
    }),
    lastTransitionTime: timestamp({ description: 'When `status` last changed.' }),
    observedGeneration: Type.Optional(integer({ description: 'Generation of the spec this is about.', minimum: 0 })),
  },
  { description: 'One condition of the resource.' },
)

export const conditions = list(condition, {
  description:
    'Ready: the remote object works. Synced: it equals the spec. Reconciling and Stalled are there only while they hold (kstatus).',
  maxItems: 16,
  listType: 'map',
  mapKeys: ['type'],
})

/** Of a status. The CRD fills in -1, so that tools which read kstatus take a resource that nobody looked at yet for work in progress. */
export const observedGeneration = Type.Optional(
  integer({ description: 'Generation of the spec that Culvert last acted on; -1: none yet.', minimum: -1 }),
)

/** An account as a status names it: the namespace of an Account is that of the resource. */
export function accountInUse(description: string) {
  return object(
    {
      kind: choice(['Account', 'ClusterAccount'], { description: 'Kind of the account.' }),
      name: objectName('Name of the account.'),
    },
    { description },
  )
}

/** Status fields that every managed kind has. */
export const commonStatus = {
  id: Type.Optional(text({ description: 'Id of the remote object.', maxLength: 255 })),
  uri: Type.Optional(text({ description: 'Address of the remote object.', maxLength: 2048 })),
  createdAt: Type.Optional(timestamp({ description: 'When the API created the object.' })),
  adopted: Type.Optional(bool({ description: 'Whether the object existed before this resource and was adopted.' })),
  accountRef: Type.Optional(accountInUse('The account in use.')),
  observedGeneration,
  lastHandledReconcileAt: answerTo(RECONCILE_REQUESTED_AT, 'acted on'),
  ...internalStatus,
  conditions: Type.Optional(conditions),
}

/** Fields of a reference by name in the same namespace, or by id of an object that is not managed here; `referenceRule` goes with them. */
export function referenceFields(target: string) {
  return {
    name: Type.Optional(objectName(`Name of the ${target} in the same namespace.`)),
    id: Type.Optional(
      text({ description: `Id of an existing ${target} that is not managed here.`, minLength: 1, maxLength: 255 }),
    ),
  }
}

/** Rule of an object with `referenceFields`. */
export const referenceRule = exactlyOne(['name', 'id'])

/** A reference that stands alone. */
export function reference(target: string) {
  return object(referenceFields(target), {
    description: `The ${target}: exactly one of name and id.`,
    rules: [referenceRule],
  })
}

/** A key of a Secret in the same namespace. */
export function secretKeyRef(description: string) {
  return object(
    {
      name: objectName('Name of the Secret in the same namespace.'),
      key: text({ description: 'Key in the Secret.', minLength: 1, maxLength: 253 }),
    },
    { description },
  )
}

/** Where a text comes from when it does not stand in the spec itself; a change there is noticed. */
export function valueFrom(description: string) {
  return object(
    {
      secretKeyRef: Type.Optional(secretKeyRef('Key of a Secret in the same namespace.')),
      configMapKeyRef: Type.Optional(
        object(
          {
            name: objectName('Name of the ConfigMap in the same namespace.'),
            key: text({ description: 'Key in the ConfigMap.', minLength: 1, maxLength: 253 }),
          },
          { description: 'Key of a ConfigMap in the same namespace.' },
        ),
      ),
    },
    {
      description: `${description} Exactly one of secretKeyRef and configMapKeyRef.`,
      rules: [exactlyOne(['secretKeyRef', 'configMapKeyRef'])],
    },
  )
}

/** What the reconciler reads of any spec. */
export interface CommonSpec {
  readonly managementPolicy?: 'Manage' | 'Observe'
  readonly externalID?: string
  readonly accountRef?: { readonly kind?: 'Account' | 'ClusterAccount'; readonly name: string }
  readonly description?: string
  readonly metadata?: OwnMetadata
  readonly rawMetadata?: string
  readonly deletionPolicy?: 'Delete' | 'Retain'
}

/** Status fields that kinds with outputs have beside the common ones. */
export const outputStatus = {
  output: Type.Optional(
    object(
      {
        kind: choice(['Secret', 'ConfigMap'], { description: 'What was written.' }),
        name: text({ description: 'Its name.', maxLength: 253 }),
        keys: list(text({ description: 'A key.', maxLength: 253 }), { description: 'Keys in it.', maxItems: 16 }),
      },
      { description: 'Where the outputs of this resource were written.' },
    ),
  ),
}

/** Status fields that kinds with rotated tokens have beside these. */
export const rotationStatus = {
  rotatedAt: Type.Optional(timestamp({ description: 'When the token in use was issued.' })),
  nextRotationAt: Type.Optional(
    timestamp({ description: 'When the next one is issued; absent while none is planned.' }),
  ),
  lastHandledRotateAt: answerTo(ROTATE_REQUESTED_AT, 'answered by a new token'),
}

const commonStatusObject = object(
  { ...commonStatus, ...outputStatus, ...rotationStatus },
  { description: 'Common status.' },
)

/** What the reconciler reads of any status; `output` only kinds with outputs have, and those of rotation only kinds with tokens. Fields of the kind stand beside these. */
export type CommonStatus = Static<typeof commonStatusObject>

export type Condition = Static<typeof condition>

/** A reference as it stands in a spec. */
export interface Ref {
  readonly name?: string
  readonly id?: string
}

/** A key of a Secret or ConfigMap as it stands in a spec. */
export interface KeyRef {
  readonly name: string
  readonly key: string
}

/** Where an input of a spec comes from. */
export type InputSource = 'Secret' | 'ConfigMap'

/** `<field>From` as it stands in a spec: exactly one member. */
export interface ValueFrom {
  readonly secretKeyRef?: KeyRef
  readonly configMapKeyRef?: KeyRef
}
