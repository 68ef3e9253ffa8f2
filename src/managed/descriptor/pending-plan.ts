import { type Static, Type } from 'typebox'
import { bool, choice, integer, list, object, text, timestamp } from '../../schema/define.ts'

/**
 * Limits of what a status shows of a plan; its hash covers the whole. The last is for the sum of all, in bytes: beside
 * the largest spec, it must fit into etcd.
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
    field: text({ description: 'Path of the field within the object at the API.', maxLength: SHOWN.path }),
    from: Type.Optional(
      text({
        description: 'The value there now, as JSON; absent: none. One that is cut ends with an ellipsis.',
        maxLength: SHOWN.value,
      }),
    ),
    to: Type.Optional(
      text({
        description: 'The value to be, as JSON; absent: it is removed. One that is cut ends with an ellipsis.',
        maxLength: SHOWN.value,
      }),
    ),
    secret: Type.Optional(bool({ description: 'The values may be secret and are not shown.' })),
  },
  { description: 'A field that the request sets.' },
)

const operation = object(
  {
    step: integer({ description: 'The place of the request in the order of sending, from 1.', minimum: 1 }),
    action: choice(['Create', 'Update', 'Delete'], { description: 'What is done to the object.' }),
    object: text({
      description: 'Collection and id of the object; only the collection, if the object is to be created.',
      maxLength: SHOWN.object,
    }),
    changes: Type.Optional(
      list(change, { description: 'What changes; the first of the fields.', maxItems: SHOWN.changes }),
    ),
    marks: Type.Optional(
      list(text({ description: 'What it opens, deletes or replaces.', maxLength: SHOWN.mark }), {
        description: 'Why to look at this request first.',
        maxItems: SHOWN.marks,
      }),
    ),
    moreChanges: Type.Optional(integer({ description: 'How many further fields change.', minimum: 1 })),
  },
  { description: 'One request to the API.' },
)

/** `status.plan` of every managed kind. */
export const pendingPlan = object(
  {
    hash: text({
      description:
        'Identifies the plan. The annotation `culvert.dev/approved-plan` with this value lets exactly this plan run; `culvert approve` sets it.',
      maxLength: 64,
    }),
    since: timestamp({ description: 'Since when this spec, or the deletion, waits for approval.' }),
    operations: list(operation, {
      description:
        'The requests that Culvert would send: first those that open, delete or replace something, each group in the order of sending.',
      maxItems: SHOWN.operations,
    }),
    moreOperations: Type.Optional(
      integer({
        description: 'How many further requests there would be: the plan is too large to be shown in full.',
        minimum: 1,
      }),
    ),
  },
  {
    description:
      'What Culvert would do to the account, once it is approved. Only with `managementPolicy: Plan`, while something waits for approval.',
  },
)

/** A plan that waits for approval. */
export type PendingPlan = Static<typeof pendingPlan>
