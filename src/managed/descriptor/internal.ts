import { type Static, Type } from 'typebox'
import { bool, integer, list, object, stringMap, text, timestamp } from '../../schema/define.ts'
import { keysLimit } from '../../schema/rules.ts'

/** The description of every `status.internal`. */
export const INTERNAL_DESCRIPTION =
  "Culvert's own bookkeeping. Not part of the API: it may change in any version. Do not read or write it."

const create = object(
  {
    nonce: text({ description: 'Nonce of the last create that is known to have succeeded.', maxLength: 64 }),
    attempt: integer({ description: 'Number of attempts the create took.', minimum: 0 }),
    uid: Type.Optional(
      text({
        description: "UID of the owning resource in the object's metadata, as of the last write.",
        maxLength: 64,
      }),
    ),
  },
  { description: 'How the remote object was created. Absent for one that is only observed.' },
)

const former = object(
  {
    id: text({ description: 'Id of the former object.', maxLength: 255 }),
    nonce: Type.Optional(text({ description: 'Nonce of its create.', maxLength: 64 })),
    deleteAfter: Type.Optional(
      timestamp({ description: 'Earliest time of its deletion, unless the spec sets a shorter overlap.' }),
    ),
    adopted: Type.Optional(bool({ description: 'Whether it was adopted, so that its token is unknown.' })),
    digest: Type.Optional(
      text({ description: 'Digest of its token, to detect whether an Account still uses it.', maxLength: 64 }),
    ),
  },
  { description: 'A former object that will be deleted.' },
)

const sentReference = object(
  {
    kind: text({ description: 'Kind of the resource referred to.', maxLength: 63 }),
    name: Type.Optional(text({ description: 'Its name; absent if the spec refers to it by id.', maxLength: 253 })),
    namespace: Type.Optional(
      text({ description: 'Its namespace, if it differs from that of this resource.', maxLength: 63 }),
    ),
    id: text({ description: 'Id that was sent for it.', maxLength: 255 }),
    generation: Type.Optional(
      integer({
        description: 'Generation of the spec for which the resource in the other namespace last permitted it.',
        minimum: 0,
      }),
    ),
  },
  { description: 'An object that the remote object refers to.' },
)

const approved = object(
  {
    of: text({ description: 'Digest of the spec, or of the deletion, that is approved.', maxLength: 64 }),
    plan: Type.Optional(
      text({
        description: 'Hash of the plan that was approved last; absent if no approval was needed.',
        maxLength: 64,
      }),
    ),
  },
  { description: 'What was approved. Only with `managementPolicy: Plan`.' },
)

/** `status.internal` of every managed kind. Only the reconciler reads and writes it: a new field is a new line here. */
const internal = object(
  {
    create: Type.Optional(create),
    superseded: Type.Optional(
      list(former, { description: 'Former objects of this resource that will be deleted.', maxItems: 64 }),
    ),
    references: Type.Optional(
      list(sentReference, {
        description:
          'Objects that the remote object may refer to; while a write is in progress, both those before and those after it.',
        maxItems: 1024,
      }),
    ),
    inputsFingerprint: Type.Optional(
      text({ description: 'Changes when a value read from a Secret or ConfigMap changes.', maxLength: 64 }),
    ),
    appliedModules: Type.Optional(
      list(text({ description: 'Name of a module or part.', maxLength: 63 }), {
        description:
          'Modules, and other parts that can also be set outside Culvert, that the spec has set. One that is removed from the spec is disabled or removed.',
        maxItems: 16,
        listType: 'set',
      }),
    ),
    applied: Type.Optional(
      list(text({ description: 'Name of a field in the API.', maxLength: 63 }), {
        description:
          'Fields of an adopted object, or of its replacement, that the spec has set so far. A field that is removed from the spec returns to its default; other fields are not changed.',
        maxItems: 32,
        listType: 'set',
      }),
    ),
    chosen: Type.Optional(
      stringMap(
        text({ description: 'Digest of the value that was sent and the value that the service chose.', maxLength: 64 }),
        {
          description:
            'API fields that the spec leaves partly open, with a digest of the value that the service chose, which is not drift.',
          maxProperties: 16,
          rules: [keysLimit(63, 'chosen')],
        },
      ),
    ),
    tokenDigest: Type.Optional(
      text({ description: 'Digest of the token in the Secret, to detect changes to it.', maxLength: 64 }),
    ),
    approved: Type.Optional(approved),
  },
  { description: INTERNAL_DESCRIPTION },
)

/** The status field of every managed kind with this bookkeeping. */
export const internalStatus = { internal: Type.Optional(internal) }

/** Bookkeeping of a managed kind. */
export type InternalStatus = Static<typeof internal>

/** A superseded object that is still to be deleted. */
export type Former = Static<typeof former>
