import type { Collection, RemoteObject } from '../../api/types.ts'
import { equalJSON } from '../../util/json.ts'
import { jsonText } from '../../util/printable.ts'
import type { Fields } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import { MARK_KEY, parseObject } from '../descriptor/metadata.ts'
import { parseMarker } from '../markers/marker.ts'

/** A field of the API that a request sets. */
export interface FieldChange {
  /** Path within the object, `ip_restriction.enforced` or `labels["example.com/team"]`, in printable characters. */
  readonly path: string
  /** Undefined: there was none. */
  readonly old: unknown
  /** Undefined: it is removed. */
  readonly new: unknown
  /** The values may be secret and must not be shown; then both are absent. */
  readonly isSecret: boolean
}

/** Shown instead of a value that the service will decide. */
export const KNOWN_AFTER_APPLY = '(known after apply)'

/** A create or update, and the object as it was before; undefined for a create. */
export interface PlannedBody {
  readonly collection: Pick<Collection, 'path'>
  readonly body: Fields
  readonly before: RemoteObject | undefined
}

/** What a request changes, field by field, as people see it: without secrets and without Culvert's mark. */
export function changesOf(
  descriptor: ManagedDescriptor | undefined,
  { body, before, collection }: PlannedBody,
): readonly FieldChange[] {
  const isOwn = descriptor?.identity.collections.some(({ path }) => path === collection.path) ?? false
  const secret = isOwn ? (descriptor?.fields.secret ?? []) : []
  const found = before === undefined ? {} : foundIn(isOwn ? descriptor : undefined, before)
  const wanted = isOwn && descriptor !== undefined ? { ...body, ...descriptor.fields.comparable(body, before) } : body
  return Object.keys(body).flatMap((field): readonly FieldChange[] => {
    if (secret.includes(field)) return [{ path: field, old: undefined, new: undefined, isSecret: true }]
    return leaves(field, ownKeysOf(found[field]), ownKeysOf(wanted[field]))
  })
}

/**
 * A text that carries Culvert's mark without the mark: people only look for their own keys in it. Any other value is
 * left as it is.
 */
function ownKeysOf(value: unknown): unknown {
  if (parseMarker(value) === undefined) return value
  const { [MARK_KEY]: _mark, ...own } = parseObject(String(value)) ?? {}
  return Object.keys(own).length === 0 ? undefined : own
}

/** The fields of an object in the form in which they are sent, as far as its kind says. */
function foundIn(descriptor: ManagedDescriptor | undefined, object: RemoteObject): Fields {
  return { ...object, ...descriptor?.fields.observe(object) }
}

/** Members that differ, each by its own path; lists and texts as a whole. */
function leaves(path: string, old: unknown, next: unknown): readonly FieldChange[] {
  if (equalJSON(old ?? null, next ?? null)) return []
  if (!isFields(next) || !(isFields(old) || old === undefined || old === null)) {
    return [{ path, old: old ?? undefined, new: next ?? undefined, isSecret: false }]
  }
  const names = [...new Set([...Object.keys(old ?? {}), ...Object.keys(next)])]
  if (names.length === 0) return [{ path, old: old ?? undefined, new: next, isSecret: false }]
  return names.flatMap((name) => leaves(`${path}${stepText(name)}`, (old as Fields | undefined)?.[name], next[name]))
}

/** A step of a path. Names of users are quoted, so that no two look alike. */
function stepText(name: string): string {
  return /^[\w-]+$/.test(name) ? `.${name}` : `[${jsonText(name)}]`
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
