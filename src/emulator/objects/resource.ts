import type { Choices } from '../choices/choices.ts'
import type { Fields } from '../fields/field.ts'
import type { JsonSchema } from '../fields/json-schema.ts'
import type { Claim, Link, StoredObject } from '../store/database.ts'
import type { Route } from '../store/deliveries.ts'
import { idPrefix } from '../values/ids.ts'
import type { Json, JsonObject } from '../values/json.ts'
import type { View } from './view.ts'
import type { WriteContext } from './write-context.ts'

/** A pending write. `next` is complete (absent values filled in, changes merged) and may be altered. */
export interface Draft {
  /** The checked body fields that the caller sent. */
  readonly given: JsonObject
  /** The object before an update; undefined at create. */
  readonly before: StoredObject | undefined
  /** The object as it will be stored. */
  readonly next: StoredObject
}

/**
 * A sub-resource of one object, such as an edge's module: `GET` and `PUT` where declared, and `DELETE` (204, even when
 * not set).
 */
export interface Part {
  /** Last segment of its path. */
  readonly name: string
  /** The part as returned, or null when not set (404). */
  readonly read?: (object: StoredObject, view: View) => Json
  /** What `read` returns, except null. */
  readonly shows?: JsonSchema
  /** The update body that is equivalent to a `PUT` of `body`. */
  readonly replace?: (body: JsonObject) => JsonObject
  /** The bodies that `replace` accepts. */
  readonly takes?: JsonSchema
  /** Field values that a `DELETE` sets. */
  readonly clear: (object: StoredObject, context: WriteContext) => JsonObject
}

/** A list inside an object whose items have addresses, such as the sources of an event subscription. */
export interface MemberList {
  /** Last segment of the list's path, and its list key. */
  readonly name: string
  /** The field of the object that holds the items; each item is an object. */
  readonly field: string
  /** The member of an item that names it in the path. */
  readonly key: string
  readonly fields: Fields
  /** What `render` returns. */
  readonly shows: JsonSchema
  readonly render: (item: JsonObject, object: StoredObject, view: View) => JsonObject
}

/** A command to an object: a `POST` of an empty JSON object, answered 204. */
export interface Command {
  /** Last segment of its path. */
  readonly name: string
  readonly summary: string
  /** Runs the command in a transaction; throws a RequestError when that is not possible. */
  readonly run: (object: StoredObject, context: WriteContext) => void
}

/**
 * One collection of the API. Declares everything that routes, store and admin surface need to know about it; shared
 * code never checks which collection it handles. To add one, write a file with such a value and add a line to
 * `resources/index.ts`.
 */
export interface Resource {
  /** Path below the base address, without slashes around it: `edges/tcp`. */
  readonly path: string
  /** Key of the array in list answers. */
  readonly listKey: string
  /** Prefix of its ids, without the underscore. */
  readonly idPrefix: string
  /** The `<name>` of its event types `<name>_created.v0` and so on; null when its changes fire none. */
  readonly eventName: string | null
  /** Whether the API serves it. Others exist only through the admin surface and references. */
  readonly served: boolean
  /** Whether requests may only list and get its objects, which are created in other ways. */
  readonly readOnly?: boolean
  /** The OpenAPI document's name for one of them, if that is not `eventName`. */
  readonly singular?: string
  /** The response field with the time of creation. Default `created_at`. */
  readonly createdAs?: string
  /** Whether `uri` is the whole address (default) or a path relative to the base (`api-decisions.md § Values`). */
  readonly uriForm?: 'absolute' | 'path'
  /** Whether the contract shows the answer to an update. Default `stated`. */
  readonly updateAnswer?: 'stated' | 'unstated'
  readonly fields: Fields
  /**
   * Values of fields that a create omits, where the service may choose them; they replace the fields' own absent
   * values.
   */
  readonly defaults?: (choices: Choices) => JsonObject
  /** Refuses bodies that the service does not take, as chosen; throws a RequestError. */
  readonly refuse?: (body: JsonObject, choices: Choices) => void
  /** Body fields and state as the API returns them; `id`, `uri` and `created_at` are added. */
  readonly render: (object: StoredObject, view: View) => JsonObject
  /**
   * Stored values that take long to make, such as a key; other requests continue meanwhile. Runs when each field of a
   * create body is valid, before `prepare`; first refuses combinations of fields that are invalid. Not called for
   * seeds: `prepare` makes what is missing.
   */
  readonly beforeCreate?: (given: JsonObject) => Promise<JsonObject>
  /** The schema of each field that `render` returns. */
  readonly shows: Readonly<Record<string, JsonSchema>>
  /** Rules across fields and objects; throws a RequestError, or completes `draft.next`. */
  readonly prepare?: (draft: Draft, context: WriteContext) => void
  /** Values that must be unique. */
  readonly claims?: (object: StoredObject, choices: Choices) => readonly ClaimedField[]
  /** Labels by which the object can be found. */
  readonly labels?: (object: StoredObject) => JsonObject
  /** The object's links to other objects. */
  readonly links?: (object: StoredObject, context: WriteContext) => readonly Link[]
  /** The events that the object forwards, and where. */
  readonly routes?: (object: StoredObject) => readonly Route[]
  /** Response fields shown only in the answer to the create. Runs after the object is stored. */
  readonly reveal?: (object: StoredObject, context: WriteContext) => JsonObject
  readonly parts?: readonly Part[]
  readonly memberLists?: readonly MemberList[]
  readonly commands?: readonly Command[]
  /** The object after the time from `dueAt` has come, by the emulated clock. Must advance `dueAt`. */
  readonly onDue?: (object: StoredObject, at: number, context: WriteContext) => StoredObject
  /** When the object next needs `onDue`, in emulated milliseconds. */
  readonly dueAt?: (object: StoredObject) => number | undefined
}

/** A unique value, and the field under which a conflict is reported. */
interface ClaimedField extends Claim {
  readonly field: string
}

/** Finds collections by path and by id prefix. */
export class ResourceIndex {
  readonly all: readonly Resource[]
  readonly #byPath: ReadonlyMap<string, Resource>
  readonly #byPrefix: ReadonlyMap<string, Resource>

  constructor(resources: readonly Resource[]) {
    this.all = resources
    this.#byPath = new Map(resources.map((resource) => [resource.path, resource]))
    this.#byPrefix = new Map(resources.map((resource) => [resource.idPrefix, resource]))
  }

  byPath(path: string): Resource | undefined {
    return this.#byPath.get(path)
  }

  /** The collection to which one of our ids belongs. */
  ofId(id: string): Resource {
    const resource = this.#byPrefix.get(idPrefix(id))
    if (resource === undefined) throw new Error(`no collection has ids like ${id}`)
    return resource
  }
}
