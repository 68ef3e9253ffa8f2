import { type Static, Type } from 'typebox'
import { bool, choice, integer, list, object, text, timestamp } from '../../schema/define.ts'

/** Limits of what a status shows of a plan; its hash covers the whole. */
export const SHOWN = { operations: 20, changes: 16, path: 255, value: 160 } as const

const change = object(
  {
    field: text({ description: 'Path of the field within the object at the API.', maxLength: SHOWN.path }),
    from: Type.Optional(
      text({ description: 'The value there now, as JSON; absent: none. Long ones are cut.', maxLength: SHOWN.value }),
    ),
    to: Type.Optional(
      text({ description: 'The value to be, as JSON; absent: it is removed.', maxLength: SHOWN.value }),
    ),
    secret: Type.Optional(bool({ description: 'The values may be secret and are not shown.' })),
  },
  { description: 'A field that the request sets.' },
)

const operation = object(
  {
    action: choice(['Create', 'Update', 'Delete'], { description: 'What is done to the object.' }),
    object: text({
      description: 'Collection and id of the object; only the collection, if the object is to be created.',
      maxLength: 384,
    }),
    changes: Type.Optional(
      list(change, { description: 'What changes; the first of the fields.', maxItems: SHOWN.changes }),
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
      description: 'The requests that Culvert would send, in order; the first of them.',
      maxItems: SHOWN.operations,
    }),
    moreOperations: Type.Optional(integer({ description: 'How many further requests there would be.', minimum: 1 })),
  },
  {
    description:
      'What Culvert would do to the account, once it is approved. Only with `managementPolicy: Plan`, while something waits for approval.',
  },
)

/** A plan that waits for approval. */
export type PendingPlan = Static<typeof pendingPlan>
