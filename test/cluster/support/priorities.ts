import { kinds } from '../../../src/kinds/index.ts'
import type { PassingRequest } from '../../builders/kube-proxy.ts'
import { core, typeOf, type World } from './world.ts'

/** A request in a recognizable form: what it asks for, without ids and values. */
export interface Seen {
  /** Name of the CR or Account that it is for: unique in the world, and also the name of its Secret or ConfigMap. */
  readonly priority: string
  readonly sort: string
  readonly isWrite: boolean
}

/**
 * Assigns an operator's requests to the CR or Account that they are for. Events, which are sent separately, belong to
 * none.
 */
export class LaneFinder {
  readonly #world: World
  /** Their names by the path at the apiserver. */
  readonly #paths = new Map<string, string>()
  /** Names of CRs by the ids of their objects and the parts of these. */
  readonly #ids = new Map<string, string>()
  #since = 0

  constructor(world: World) {
    this.#world = world
    for (const { definition } of kinds) {
      const { group, version, plural, namespaced } = typeOf(definition.kind)
      if (namespaced)
        this.#plurals.set(`/apis/${group}/${version}/namespaces/${world.namespace}/${plural}`, definition.kind)
    }
  }

  readonly #plurals = new Map<string, string>()

  /** The copy of an Account's key in the operator's namespace belongs to the Account. */
  addAccount(name: string, uid: string): void {
    this.#paths.set(`/api/v1/namespaces/${this.#world.operatorNamespace}/secrets/culvert-key-${uid}`, accountLane(name))
  }

  /** Name of the CR that the object belongs to, or belonged to. */
  ownerOf(id: string): string | undefined {
    for (const { seq, method, status, body, responseId } of this.#world.journal(this.#since)) {
      // An answer that has not arrived yet is checked again.
      if (method !== 'POST') continue
      if (status === null) break
      this.#since = seq
      if (status !== 201 || responseId === null) continue
      const owner = this.#ownerIn(body)
      if (owner !== undefined) this.#ids.set(responseId, owner)
    }
    return this.#ids.get(id)
  }

  atKube({ method, path, body }: PassingRequest): Seen | undefined {
    const content = contentOf(body)
    const place = this.#placeOf(path, content)
    if (place === undefined) return undefined
    return {
      priority: place.priority,
      sort: `${method} ${place.what} ${wordsOf(content)}`.trim(),
      isWrite: method !== 'GET',
    }
  }

  /** @param other for requests that concern no CR's object. */
  atApi({ method, path, body }: PassingRequest, other: string): Seen {
    const content = contentOf(body)
    const parts = path.split('/').filter((part) => part !== '')
    const id = parts.find((part) => ID.test(part))
    const priority = (id === undefined ? this.#ownerIn(content) : this.ownerOf(id)) ?? other
    const what = parts.map((part) => (ID.test(part) ? ':id' : part)).join('/')
    const isWrite = method !== 'GET'
    return { priority, sort: `API ${method} /${what} ${Object.keys(content).join(' ')}`.trim(), isWrite }
  }

  #placeOf(path: string, { metadata }: Content): { readonly priority: string; readonly what: string } | undefined {
    const known = this.#paths.get(path)
    if (known !== undefined) return { priority: known, what: 'kept key' }
    for (const { plural, kind } of OUTPUTS) {
      const collection = `/api/v1/namespaces/${this.#world.namespace}/${plural}`
      if (path === collection)
        return metadata?.name === undefined ? undefined : { priority: metadata.name, what: `${kind}s` }
      if (path.startsWith(`${collection}/`)) return { priority: path.slice(collection.length + 1), what: kind }
    }
    const [collection, name, ...rest] = split(path)
    const kind = this.#plurals.get(collection)
    if (kind === undefined || name === undefined) return undefined
    return { priority: kind === 'Account' ? accountLane(name) : name, what: [kind, ...rest].join('/') }
  }

  /** By the marker, which bots have in their name. An update without a marker is its policy's. */
  #ownerIn(body: unknown): string | undefined {
    const { metadata, name, ip_policy_id: policy } = (body ?? {}) as Readonly<Record<string, unknown>>
    const marked = /"name":"([^"]+)"/.exec(String(metadata ?? name ?? ''))?.[1]
    return marked ?? (typeof policy === 'string' ? this.ownerOf(policy) : undefined)
  }
}

/** An Account may have the name of a CR. */
function accountLane(name: string): string {
  return `Account/${name}`
}

/** Types of CRs' outputs. */
const OUTPUTS = [core('secrets', 'Secret'), core('configmaps', 'ConfigMap')]

/** Ids have a prefix and 27 characters (`api-decisions.md § Values`). */
const ID = /^[a-z]+_[0-9A-Za-z]{27}$/

interface Content {
  readonly metadata?: { readonly name?: string; readonly annotations?: Fields; readonly finalizers?: unknown }
  readonly status?: Fields
  readonly data?: Fields
  readonly spec?: unknown
}

type Fields = Readonly<Record<string, unknown>>

function contentOf(body: string): Content {
  return body === '' ? {} : ((JSON.parse(body) ?? {}) as Content)
}

/**
 * What is written: names of annotations and status fields, with removed ones marked. A time is written only when a
 * second has passed, and a condition when it has changed, so neither distinguishes writes.
 */
function wordsOf({ metadata, status, data }: Content): string {
  const { internal, ...fields } = status ?? {}
  const words = [
    ...named(metadata?.annotations),
    ...(metadata?.finalizers === undefined ? [] : ['finalizers']),
    ...(data === undefined ? [] : ['data']),
    ...named({ ...fields, ...(internal as Fields | null | undefined) }),
  ]
  return words.join(' ')
}

function named(fields: Fields = {}): readonly string[] {
  const told = Object.entries(fields).filter(([name]) => name !== 'conditions' && !/At$/.test(name))
  const names = told.map(([name, value]) => (value === null ? `-${name}` : name))
  return names.map((name) => name.replace(/^.*\//, '')).toSorted()
}

/** `/a/b/<plural>`, the name and the rest. */
function split(path: string): [string, string | undefined, ...string[]] {
  const [, ...parts] = path.split('/')
  const [collection, [name, ...rest]] = [parts.slice(0, 6), parts.slice(6)]
  return [`/${collection.join('/')}`, name, ...rest]
}
