import { Ajv, type ValidateFunction } from 'ajv'
import type { RemoteObject } from './types.ts'

/**
 * Ids are strings of a few dozen characters (`management-api.md § Conventions`). They appear in paths, logs and
 * statuses, which take no longer ones.
 */
const MAX_ID_LENGTH = 255

/**
 * A page of a list, read defensively: an absent, null or empty `next_page_uri` ends the list, and null in place of the
 * array is an empty one. Without the key of the collection it is no list, or any object would be an empty one.
 */
export interface ListPage {
  readonly objects: readonly RemoteObject[]
  readonly nextPageURI: string | undefined
}

// The schemas below are constants: checking them against the meta-schema would take a tenth of each start.
const ajv = new Ajv({ strict: true, allErrors: false, meta: false, validateSchema: false })

const objectSchema = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', minLength: 1, maxLength: MAX_ID_LENGTH } },
} as const

const isObject: ValidateFunction<RemoteObject> = ajv.compile<RemoteObject>(objectSchema)

/** Refused when read: once written to a status, the id would only fail later, on every attempt. */
const UNFIT = 'cannot stand in a path'

/** The object if `body` is one; otherwise what is wrong with it, without quoting the body. */
export function readObject(body: unknown): RemoteObject | { readonly problem: string } {
  if (!isObject(body)) return { problem: problemOf(isObject) }
  return fitsPath(body.id) ? body : { problem: `/id ${UNFIT}` }
}

/** Tells the two results of `readObject` and of a page reader apart. */
export function isProblem(result: object): result is { readonly problem: string } {
  return 'problem' in result && !('id' in result)
}

type PageReader = (body: unknown) => ListPage | { readonly problem: string }

/** One per list key: compiled checks are never freed, and sessions come and go. */
const pageReaders = new Map<string, PageReader>()

/** The check for one collection's list envelope (`management-api.md § Conventions`). */
export function pageReader(listKey: string): PageReader {
  const known = pageReaders.get(listKey) ?? compiledReader(listKey)
  pageReaders.set(listKey, known)
  return known
}

function compiledReader(listKey: string): PageReader {
  type Envelope = Readonly<Record<string, unknown>> & { readonly next_page_uri?: string | null }
  const validate = ajv.compile<Envelope>({
    type: 'object',
    required: [listKey],
    properties: {
      [listKey]: { type: 'array', nullable: true, items: objectSchema },
      next_page_uri: { type: 'string', nullable: true },
    },
  })
  return (body) => {
    if (!validate(body)) return { problem: problemOf(validate) }
    const objects = (body[listKey] ?? []) as readonly RemoteObject[]
    if (!objects.every(({ id }) => fitsPath(id))) return { problem: `/${listKey}/*/id ${UNFIT}` }
    return { objects, nextPageURI: body.next_page_uri || undefined }
  }
}

/** Leaves out indices, so that the same defect elsewhere gives the same message. */
function problemOf(validate: ValidateFunction): string {
  const error = validate.errors?.[0]
  const where = (error?.instancePath ?? '').replace(/\/\d+/g, '/*')
  return `${where === '' ? 'the body' : where} ${error?.message ?? 'is not as documented'}`
}

/**
 * Whether an id can be used in a path. A segment of dots would leave the collection, and an empty id would name the
 * collection itself; every other character with a meaning in URLs is encoded.
 */
export function fitsPath(id: string): boolean {
  return id !== '' && id !== '.' && !id.includes('..') && !/[/\\\p{Cc}]/u.test(id) && id.isWellFormed()
}
