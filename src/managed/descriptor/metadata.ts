import { isDeepStrictEqual } from 'node:util'
import { Type } from 'typebox'
import { stringMap, text } from '../../schema/define.ts'
import { mapLimit } from '../../schema/rules.ts'
import { ownField } from '../../util/json.ts'
import { GROUP } from '../names.ts'

/**
 * `metadata` of a spec: the user's own strings, which are stored with Culvert's marker in the one JSON object that the
 * API keeps.
 */
export type OwnMetadata = Readonly<Record<string, string>>

/** The key of Culvert's marker. */
export const MARK_KEY = 'culvert'
/**
 * Bytes that a map may take in the object's metadata: what the longest marker leaves of 4096 (`management-api.md §
 * Limits`).
 */
export const OWN_METADATA_BYTES = 3072

const MOST_KEYS = 32
const KEY_LENGTH = 63
/** Quotes, colon and comma of one entry. */
const PUNCTUATION = 6

/**
 * Schema of a map of texts that takes at most `bytes` bytes as JSON. The rules count characters; `metadataProblems`
 * counts bytes.
 */
export function ownMetadata(options: { readonly description: string; readonly bytes: number; readonly keys?: number }) {
  const { bytes, description, keys = MOST_KEYS } = options
  return Type.Optional(
    stringMap(text({ description: 'Value of the key.', maxLength: bytes }), {
      description: `${description} At most ${keys} keys, each of 1 to ${KEY_LENGTH} characters, and ${bytes} bytes in total as JSON. The key \`${MARK_KEY}\` is refused.`,
      maxProperties: keys,
      rules: [
        {
          rule: `!('${MARK_KEY}' in self)`,
          message: `metadata has the key ${MARK_KEY}, which Culvert sets itself: rename it`,
          reason: 'FieldValueForbidden',
        },
        {
          rule: `self.all(key, size(key) > 0 && size(key) <= ${KEY_LENGTH})`,
          message: `metadata has a key that is empty or longer than ${KEY_LENGTH} characters: rename it`,
        },
        mapLimit(bytes, PUNCTUATION, 'metadata'),
      ],
    }),
  )
}

/** Why a map is refused; empty if it is valid. `path` names the field. */
export function metadataProblems(path: string, metadata: OwnMetadata = {}, bytes = OWN_METADATA_BYTES): string[] {
  const marks = Object.hasOwn(metadata, MARK_KEY)
  const over = ownBytes(metadata) - bytes
  return [
    ...(marks ? [`${path}: the key \`${MARK_KEY}\` is reserved for Culvert's marker: rename it`] : []),
    ...(over > 0 ? [`${path}: has ${bytes + over} bytes as JSON, but at most ${bytes} are allowed: shorten it`] : []),
  ]
}

/** Bytes that a map adds to the JSON object of a marker. */
function ownBytes(metadata: OwnMetadata): number {
  return Buffer.byteLength(objectText(Object.entries(metadata))) - '{}'.length + Math.sign(Object.keys(metadata).length)
}

/** Why the text of `rawMetadata` is refused; empty if it is valid. */
export function rawMetadataProblems(path: string, metadata: string | undefined): string[] {
  if (metadata === undefined || parseObject(metadata)?.[MARK_KEY] === undefined) return []
  return [`${path}: a top-level \`${MARK_KEY}\` key in a JSON object is reserved for Culvert's marker: rename the key`]
}

/** The fields of a spec about an object's metadata. */
export interface MetadataSpec {
  readonly metadata?: OwnMetadata | undefined
  readonly rawMetadata?: string
}

/**
 * The metadata that an object should have; exactly the text of `held` if that already means the same, so that nothing
 * is written to a service which spaces or orders JSON in its own way.
 *
 * @param marked marker and map, for an object that Culvert created. Undefined for any other: it gets no marker, and
 *   only the keys in the spec are set.
 */
export function wantedMetadata(
  { metadata = {}, rawMetadata }: MetadataSpec,
  held: string,
  marked: string | undefined,
): string {
  if (rawMetadata !== undefined) return keptText(rawMetadata, held)
  if (marked === undefined) return withKeys(held, metadata)
  return sameMetadata(held, marked) ? held : marked
}

/** Whether two texts are the same JSON object, or the same text. */
function sameMetadata(left: string, right: string): boolean {
  if (left === right) return true
  const object = parseObject(left)
  return object !== undefined && isDeepStrictEqual(object, parseObject(right))
}

/** `held` with these keys set. Other keys of a JSON object stay; any other text is replaced by the map. */
function withKeys(held: string, metadata: OwnMetadata): string {
  const object = parseObject(held, asWritten)
  if (sortedEntries(metadata).every(([key, value]) => ownField(object, key) === value)) return held
  return objectText([...new Map([...Object.entries(object ?? {}), ...sortedEntries(metadata)])])
}

/** Kind of the resource whose mark the text is; undefined for any other text. */
export function markedKind(text: string): string | undefined {
  const { kind } = (parseObject(text)?.[MARK_KEY] ?? {}) as { readonly kind?: unknown }
  return typeof kind === 'string' ? kind : undefined
}

/**
 * The user's keys in the metadata of an object that Culvert created; undefined if there are none, and for any other
 * string.
 */
export function ownKeys(text: string): OwnMetadata | undefined {
  const { [MARK_KEY]: mark, ...own } = parseObject(text) ?? {}
  const texts = Object.entries(own).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return mark === undefined || texts.length === 0 ? undefined : Object.fromEntries(texts)
}

/** Entries sorted by key, so that equal maps are equal texts. */
export function sortedEntries(metadata: OwnMetadata): readonly (readonly [string, string])[] {
  return Object.entries(metadata).sort(([left], [right]) => (left < right ? -1 : 1))
}

/** The JSON object with these entries, in this order: a JavaScript object would put numeric keys first. */
export function objectText(entries: readonly (readonly [string, unknown])[]): string {
  return `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`
}

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown

/** The object that `text` contains as JSON; undefined for any other text. */
export function parseObject(text: string, reviver?: Reviver): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text, reviver)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    // Metadata is usually free text.
    return undefined
  }
}

/** Keeps numbers as they are written: those of others may have more digits than JavaScript can represent. */
const asWritten: Reviver = (_key, value, context) => {
  return typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value
}
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown }

/**
 * The text to send: the existing one if the service has only trimmed white space around it, so that nothing is written
 * for that.
 */
export function keptText(wanted: string, held: string): string {
  return held === wanted.trim() ? held : wanted
}

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const PREFIX_LENGTH = 253

/** Whether a label or annotation is Culvert's own, which no one else sets. */
export function isOwnKey(key: string): boolean {
  const prefix = prefixOf(key)
  return prefix === GROUP || (prefix?.endsWith(`.${GROUP}`) ?? false)
}

/**
 * The keys of labels or annotations that the API server would refuse, or that are Culvert's own; `path` is the path of
 * the map. CEL assumes no bound for the length of keys, so it cannot check them all.
 */
export function keyProblems(path: string, entries: Readonly<Record<string, unknown>> = {}): readonly string[] {
  return Object.keys(entries).flatMap((key) => {
    if (isOwnKey(key)) {
      return [`${path}: ${JSON.stringify(key)} is under ${GROUP}, which is Culvert's own: choose another prefix`]
    }
    return isKey(key)
      ? []
      : [`${path}: ${JSON.stringify(key)} is not a valid key: write name or prefix/name, such as example.com/team`]
  })
}

function isKey(key: string): boolean {
  const prefix = prefixOf(key)
  const name = prefix === undefined ? key : key.slice(prefix.length + 1)
  return NAME.test(name) && (prefix === undefined || (prefix.length <= PREFIX_LENGTH && PREFIX.test(prefix)))
}

function prefixOf(key: string): string | undefined {
  const slash = key.indexOf('/')
  return slash < 0 ? undefined : key.slice(0, slash)
}
