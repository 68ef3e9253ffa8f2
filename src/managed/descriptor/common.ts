import { type Static, Type } from 'typebox'
import { bool, bytesText, choice, integer, list, object, text, timestamp } from '../../schema/define.ts'
import { atMostOne, exactlyOne, type Rule } from '../../schema/rules.ts'
import { RECONCILE_REQUESTED_AT, ROTATE_REQUESTED_AT } from '../names.ts'
import type { ReferenceGrant } from './grant.ts'
import { internalStatus } from './internal.ts'
import { OWN_METADATA_BYTES, type OwnMetadata, ownMetadata } from './metadata.ts'
import { pendingPlan } from './pending-plan.ts'
import { REFERENCES_GRANTED } from './readiness.ts'
import { answerTo, namespaceName, OBJECT_NAME } from './text-schemas.ts'

/** A name of a Kubernetes object. */
export function objectName(description: string) {
  return text({
    description,
    minLength: 1,
    maxLength: 253,
    mustBe: 'the name of an object: lower-case letters, digits, - and ., beginning and ending with a letter or digit',
    pattern: OBJECT_NAME,
  })
}

/** A key of a Secret or ConfigMap. */
export function dataKey(description: string, options: { readonly default?: string } = {}) {
  return text({
    description,
    minLength: 1,
    maxLength: 253,
    mustBe: 'a key of letters, digits, -, _ and .',
    pattern: '^[-._a-zA-Z0-9]+$',
    ...options,
  })
}

/** An id of a remote object. Characters that could mislead a reader occur in no id and are not accepted. */
export function objectID(description: string) {
  return text({
    description: `${description} At most 255 printable ASCII characters, without spaces.`,
    minLength: 1,
    maxLength: 255,
    mustBe: 'an id of printable ASCII characters without spaces',
    pattern: '^[!-~]+$',
  })
}

/** `accountRef` of a spec. */
export function accountRefTo(description: string) {
  return object(
    {
      kind: Type.Optional(
        choice(['Account', 'ClusterAccount'], {
          description: 'Kind of the account. Default: Account.',
          default: 'Account',
        }),
      ),
      name: objectName('Name of the Account in the same namespace, or of the ClusterAccount.'),
    },
    { description },
  )
}

const accountRef = accountRefTo(
  'The account that this resource belongs to. Default: the Account named `default` in the namespace, otherwise the ClusterAccount named `default`. Immutable once set; an existing object cannot move to another account.',
)

const deletionPolicy = choice(['Delete', 'Retain'], {
  description:
    'What happens to the remote object when this resource is deleted. Delete: it is deleted. Retain: it is kept unchanged, and no API call is made. Default: Delete if Culvert created the object, Retain if it was adopted (`externalID`). With `managementPolicy: Observe` it is always kept.',
})

const managementPolicy = choice(['Manage', 'Observe', 'Plan'], {
  description:
    'Manage: Culvert creates the object, or adopts the object with the id `externalID`, and keeps it in sync with this spec. Observe: the object is only read, never written or deleted; the condition Synced reports how it differs from this spec. Plan: like Manage, but spec changes and the deletion wait in `status.plan` until they are approved (`culvert approve`). Required with `externalID`. Default: Manage.',
})

const externalID = objectID(
  'Id of an existing object, to observe or adopt it (see `managementPolicy`) instead of creating one. An adopted object keeps its values for fields that this spec leaves out, and stays when this resource is deleted, unless `deletionPolicy` is Delete. Immutable once this resource manages an object, except that it may be set to `status.id`. Default: none; Culvert creates the object.',
)

/** Fields that every managed kind has, whatever its objects can store. */
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
      limitedText('description', limits, { description: 'Free text that is stored with the object. Default: empty.' }),
    ),
    metadata: ownMetadata({
      bytes: OWN_METADATA_BYTES,
      description:
        'Your own key-value pairs. They are stored in the metadata of the remote object as one JSON object, together with the key `culvert`, by which Culvert recognises the objects it created. An adopted object does not get that key: only your keys are set in its metadata, and others are kept; metadata that is not a JSON object is replaced. Default: none.',
    }),
    rawMetadata: Type.Optional(
      limitedText('rawMetadata', limits, {
        description:
          "The remote object's metadata, byte for byte, instead of `metadata` and the key `culvert`. Without that key, Culvert recognises the object only by the status and an annotation of this resource. If both are lost, for example when the resource is recreated from Git, a second object is created unless `externalID` is set; an Event may warn of the duplicate. A JSON object with a top-level key `culvert` is refused. Default: none.",
      }),
    ),
  }
}

/**
 * The unit in which the contract limits `description` and `metadata`; a map of own data is small enough for all.
 * Backends have no stated limit, only the limit of the body.
 */
export type TextLimits = 'bytes' | 'characters' | 'unstated'

const DESCRIPTION = 255
const METADATA = 4096
/** Well below the 1 MiB body limit, so that both strings fit into one request. */
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

/** Rules on a spec with the fields of `bareSpec`. */
export const bareSpecRules: readonly Rule[] = [
  {
    rule: '!has(oldSelf.accountRef) || (has(self.accountRef) && self.accountRef == oldSelf.accountRef)',
    message: 'accountRef is immutable once set: delete this resource and recreate it in the other account',
    fieldPath: '.accountRef',
    reason: 'FieldValueForbidden',
  },
  {
    rule: '!has(self.externalID) || has(self.managementPolicy)',
    message:
      'managementPolicy is required with externalID: set Observe to see how the object differs from this spec, or Manage to adopt it',
    fieldPath: '.managementPolicy',
    reason: 'FieldValueRequired',
  },
]

/** Rules on the root of every managed kind. */
export const commonRootRules: readonly Rule[] = [
  {
    // Once an object is managed, the spec must keep naming it: otherwise a resource that lost its status would create a
    // second one.
    rule: `!has(oldSelf.status) || !has(oldSelf.status.internal) || !has(oldSelf.status.internal.create) || (${SAME_EXTERNAL_ID}) || (${NAMES_HELD_OBJECT})`,
    message:
      'spec.externalID is immutable once this resource manages an object: leave it as it was, or set it to status.id. To manage another object, delete this resource (an adopted object stays unless deletionPolicy is Delete) and create it again',
    fieldPath: '.spec.externalID',
    reason: 'FieldValueForbidden',
  },
]

/** Rules on a spec with the fields of `commonSpec`. */
export const commonSpecRules: readonly Rule[] = [...bareSpecRules, atMostOne(['metadata', 'rawMetadata'])]

/** `Ready`, or a word with a domain, such as `example.com/Ready`. */
const CONDITION_TYPE =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$'

/** A condition with the bounds and patterns of metav1.Condition. */
export const condition = object(
  {
    type: text({
      description: 'Type of the condition.',
      maxLength: 316,
      pattern: CONDITION_TYPE,
    }),
    status: choice(['True', 'False', 'Unknown'], { description: 'Whether the condition is true.' }),
    reason: text({
      description: 'Machine-readable reason for the last transition: one CamelCase word from a fixed set.',
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    }),
    message: text({
      description: 'Human-readable explanation: what is wrong and what to do about it.',
      maxLength: 32768,
    }),
    lastTransitionTime: timestamp({ description: 'Last time the condition changed from one status to another.' }),
    observedGeneration: Type.Optional(
      integer({ description: 'The metadata.generation that the condition was set for.', minimum: 0 }),
    ),
  },
  { description: 'One condition of the resource.' },
)

/** `conditions` of a status; the description names those of the kind. */
export function conditionsList(description: string) {
  return list(condition, { description, maxItems: 16, listType: 'map', mapKeys: ['type'] })
}

const CONDITIONS =
  'Ready: the resource can be used. Synced: the remote object matches the spec. Reconciling: work is in progress. Stalled: Culvert makes no progress until someone intervenes. Reconciling and Stalled are present only while true (kstatus).'

export const conditions = conditionsList(CONDITIONS)

const managedConditions = conditionsList(`${CONDITIONS} ${REFERENCES_GRANTED.type}: ${REFERENCES_GRANTED.description}`)

/**
 * Defaults to -1 in the CRD, so that tools that read kstatus consider a resource in progress until its first reconcile.
 */
export const observedGeneration = Type.Optional(
  integer({ description: 'The metadata.generation that Culvert last acted on; -1 if none yet.', minimum: -1 }),
)

/** An account in a status: an Account is in the namespace of the resource. */
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
  plan: Type.Optional(pendingPlan),
  ...internalStatus,
  conditions: Type.Optional(managedConditions),
}

/** The namespace of a reference's target; use together with `namespaceRule`. */
export function referenceNamespace(target: string) {
  return Type.Optional(
    namespaceName(
      `Namespace of the ${target}. The ${target} must be in the same account, and its \`allowedReferences\` must permit references from this namespace. Only with \`name\`. Default: the namespace of this resource.`,
    ),
  )
}

/** Fields of a reference by name, or by id of an unmanaged object; use together with `referenceRules`. */
export function referenceFields(target: string) {
  return {
    name: Type.Optional(objectName(`Name of the ${target}.`)),
    namespace: referenceNamespace(target),
    id: Type.Optional(
      objectID(
        `Id of an existing ${target} that Culvert does not manage. In a shared account, the administrator must allow this (\`unmanagedObjects\`), and an object that a resource in another namespace manages cannot be referenced by id.`,
      ),
    ),
  }
}

/** Rule of an object with `referenceNamespace` and an optional name. */
export const namespaceRule: Rule = {
  rule: '!has(self.__namespace__) || has(self.name)',
  message: 'namespace requires name: set name, or remove namespace',
}

/** Rules of an object with `referenceFields`. */
export const referenceRules: readonly Rule[] = [exactlyOne(['name', 'id']), namespaceRule]

/** A stand-alone reference. `about` describes its purpose. */
export function reference(target: string, about = `The ${target}.`) {
  return object(referenceFields(target), {
    description: `${about} Exactly one of name and id.`,
    rules: referenceRules,
  })
}

/** A key of a Secret in the same namespace. */
export function secretKeyRef(description: string) {
  return object(
    {
      name: objectName('Name of the Secret in the same namespace.'),
      key: dataKey('Key in the Secret.'),
    },
    { description },
  )
}

/** The source of a value that is not in the spec itself. It is watched for changes. */
export function valueFrom(description: string) {
  return object(
    {
      secretKeyRef: Type.Optional(secretKeyRef('Key of a Secret in the same namespace.')),
      configMapKeyRef: Type.Optional(
        object(
          {
            name: objectName('Name of the ConfigMap in the same namespace.'),
            key: dataKey('Key in the ConfigMap.'),
          },
          { description: 'Key of a ConfigMap in the same namespace.' },
        ),
      ),
    },
    {
      description: `${description} Exactly one of secretKeyRef and configMapKeyRef. A change of the value is applied like a change of this spec.`,
      rules: [exactlyOne(['secretKeyRef', 'configMapKeyRef'])],
    },
  )
}

/** The part of any spec that the reconciler reads. */
export interface CommonSpec {
  readonly managementPolicy?: 'Manage' | 'Observe' | 'Plan'
  readonly externalID?: string
  readonly accountRef?: { readonly kind?: 'Account' | 'ClusterAccount'; readonly name: string }
  readonly description?: string
  readonly metadata?: OwnMetadata
  readonly rawMetadata?: string
  readonly deletionPolicy?: 'Delete' | 'Retain'
  /** For kinds that can be referred to. Absent: references from other namespaces are refused. */
  readonly allowedReferences?: readonly ReferenceGrant[]
}

/** Additional status fields of kinds with outputs. */
export const outputStatus = {
  output: Type.Optional(
    object(
      {
        kind: choice(['Secret', 'ConfigMap'], { description: 'Whether it is a Secret or a ConfigMap.' }),
        name: text({ description: 'Name of the Secret or ConfigMap.', maxLength: 253 }),
        keys: list(text({ description: 'A key.', maxLength: 253 }), {
          description: 'Keys that Culvert wrote.',
          maxItems: 16,
        }),
      },
      { description: 'Where the outputs of this resource were written.' },
    ),
  ),
}

/** Additional status fields of kinds with rotated tokens. */
export const rotationStatus = {
  rotatedAt: Type.Optional(timestamp({ description: 'When the token in use was issued.' })),
  nextRotationAt: Type.Optional(
    timestamp({ description: 'When the next token will be issued; absent while none is planned.' }),
  ),
  lastHandledRotateAt: answerTo(ROTATE_REQUESTED_AT, 'answered by a new token'),
}

const commonStatusObject = object(
  { ...commonStatus, ...outputStatus, ...rotationStatus },
  { description: 'Common status.' },
)

/**
 * The part of any status that the reconciler reads, in addition to the kind's own fields. Only kinds with outputs have
 * `output`, and only kinds with tokens the fields of rotation.
 */
export type CommonStatus = Static<typeof commonStatusObject>

export type Condition = Static<typeof condition>

/** A reference in a spec. */
export interface Ref {
  readonly name?: string
  /** Absent: the namespace of the referring resource. */
  readonly namespace?: string
  readonly id?: string
}

/** A key of a Secret or ConfigMap in a spec. */
export interface KeyRef {
  readonly name: string
  readonly key: string
}

/** The source of an input of a spec. */
export type InputSource = 'Secret' | 'ConfigMap'

/** `<field>From` in a spec: exactly one member. */
export interface ValueFrom {
  readonly secretKeyRef?: KeyRef
  readonly configMapKeyRef?: KeyRef
}

/** Fields of a remote object by the API's names, in the form in which they are sent. */
export type Fields = Readonly<Record<string, unknown>>
