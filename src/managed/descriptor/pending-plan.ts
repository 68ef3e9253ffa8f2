import { type Static, Type } from 'typebox'
import { bool, choice, integer, list, object, text, timestamp } from '../../schema/define.ts'

/**
 * Limits of what a status shows of a plan; its hash covers all of it. The last limits the total in bytes, which has to
 * fit into etcd together with the largest spec.
 */
export const SHOWN = {
  operations: 2_000,
  changes: 64,
  marks: 8,
  object: 2_048,
  path: 2_048,
  value: 16_384,
  mark: 512,
  bytes: 196_608,
} as const

const change = object(
  {
    field: text({ description: 'Path of the field within the remote object.', maxLength: SHOWN.path }),
    from: Type.Optional(
      text({
        description: 'Current value as JSON; absent if there is none. A truncated value ends with an ellipsis.',
        maxLength: SHOWN.value,
      }),
    ),
    to: Type.Optional(
      text({
        description: 'New value as JSON; absent if the field is removed. A truncated value ends with an ellipsis.',
        maxLength: SHOWN.value,
      }),
    ),
    secret: Type.Optional(bool({ description: 'The values may be secret and are not shown.' })),
  },
  { description: 'A field that the request sets.' },
)

const operation = object(
  {
    step: integer({ description: 'Position of the request in the sequence, from 1.', minimum: 1 }),
    action: choice(['Create', 'Update', 'Delete'], { description: 'What is done to the object.' }),
    object: text({
      description: 'Collection and id of the object; only the collection for a Create.',
      maxLength: SHOWN.object,
    }),
    changes: Type.Optional(list(change, { description: 'The first fields that change.', maxItems: SHOWN.changes })),
    marks: Type.Optional(
      list(text({ description: 'What it opens, deletes or replaces.', maxLength: SHOWN.mark }), {
        description: 'Why this request deserves attention.',
        maxItems: SHOWN.marks,
      }),
    ),
    moreChanges: Type.Optional(integer({ description: 'Number of further fields that change.', minimum: 1 })),
  },
  { description: 'One request to the API.' },
)

/** `status.plan` of every managed kind. */
export const pendingPlan = object(
  {
    hash: text({
      description:
        'Identifies the plan. The annotation `culvert.dev/approved-plan` with this value approves exactly this plan; `culvert approve` sets it.',
      maxLength: 64,
    }),
    since: timestamp({ description: 'When this spec, or the deletion, began to wait for approval.' }),
    operations: list(operation, {
      description:
        'The requests that Culvert would send. Those that open, delete or replace something come first; each group is in the order of sending.',
      maxItems: SHOWN.operations,
    }),
    moreOperations: Type.Optional(
      integer({
        description: 'Number of further requests, if the plan is too large to be shown in full.',
        minimum: 1,
      }),
    ),
  },
  {
    description:
      'What Culvert would change in the account once approved. Only with `managementPolicy: Plan`, while something waits for approval.',
  },
)

/** A plan that waits for approval. */
export type PendingPlan = Static<typeof pendingPlan>
