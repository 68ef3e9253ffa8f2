import { type FieldChange, KNOWN_AFTER_APPLY } from '../../managed/approval/field-changes.ts'
import { withoutPlaceholders } from './answers.ts'
import type { Plan } from './make-plan.ts'

/** Raised when a field of the output changes its meaning or goes; new fields may come at any time. */
const FORMAT = 1

/** The plan for programs, as `docs/cli/plan.schema.json` describes it. */
export function planJson({ operations, unplanned, unnamed }: Plan): unknown {
  return {
    format: FORMAT,
    operations: operations.map(({ action, resource, collection, id, reason, isTemporary, changes, marks }) => {
      const known = withoutPlaceholders(id)
      return {
        action,
        resource,
        collection,
        ...(known === KNOWN_AFTER_APPLY ? {} : { id: known }),
        reason,
        ...(isTemporary ? { temporary: true } : {}),
        changes: changes.map(changeJson),
        marks: marks.map(({ type, text }) => ({ type, text: withoutPlaceholders(text) })),
      }
    }),
    unplanned: unplanned.map(({ resource, reason, message, isWaiting }) => ({ resource, reason, message, isWaiting })),
    unnamedModules: unnamed,
  }
}

function changeJson({ path, old, new: next, isSecret }: FieldChange): unknown {
  const shown = { path: withoutPlaceholders(path) }
  if (isSecret) return { ...shown, secret: true }
  return {
    ...shown,
    ...(old === undefined ? {} : { old: valueJson(old) }),
    ...(next === undefined ? {} : { new: valueJson(next) }),
  }
}

function valueJson(value: unknown): unknown {
  return JSON.parse(withoutPlaceholders(JSON.stringify(value)))
}
