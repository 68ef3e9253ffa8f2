import { ApiError, type ApiErrorCode } from '../../src/api/errors.ts'
import type { Collection, RemoteObject, RequestBody } from '../../src/api/types.ts'
import { stored } from './kinds/api-model.ts'

/** A write, before the server carries it out. */
interface Incoming {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly id?: string
  readonly body?: RequestBody
}

/** An account at the API in memory: collections of objects with server-generated ids, in order of creation. */
export class ModelAccount {
  /** Every create that took effect, by collection and metadata. */
  readonly created: string[] = []
  /** Every token ever shown, with the id of its object. */
  readonly tokens = new Map<string, string>()
  /** Further fields that the server adds to new objects of a collection. */
  readonly shownBeside = new Map<string, RequestBody>()
  /** The server's version of a create's body that it does not store as is. */
  altering: ((body: RequestBody) => RequestBody) | undefined
  /** What the server returns instead of a token. */
  telling: ((token: string) => unknown) | undefined
  /** The server's reason not to carry a write out. */
  refusing: ((write: Incoming) => ApiError | undefined) | undefined
  /** The id in the server's answer to a create, instead of the new object's. */
  naming: ((id: string) => string) | undefined
  readonly #collections = new Map<string, Map<string, RemoteObject>>()
  #ids = 0

  get(path: string, id: string): RemoteObject | undefined {
    return this.#of(path).get(id)
  }

  list(path: string): readonly RemoteObject[] {
    return [...this.#of(path).values()].reverse()
  }

  /** Every object of the account. */
  all(): readonly { readonly path: string; readonly object: RemoteObject }[] {
    return [...this.#collections].flatMap(([path, objects]) =>
      [...objects.values()].map((object) => ({ path, object })),
    )
  }

  create(path: string, body: RequestBody): RemoteObject {
    this.#refuse({ method: 'POST', path, body })
    this.#refuseUnknownIds(path, body)
    const { ip_policy_id: policy, cidr } = body
    if (policy !== undefined && this.#rulesOf(policy).some((rule) => rule.cidr === cidr)) {
      throw refusal('Conflict', 409, `POST ${path}: ${String(cidr)} stands in the policy already`)
    }
    this.created.push(`${path} ${String(body.metadata ?? body.name)}`)
    const id = `${path.replaceAll('/', '-')}_${String(++this.#ids).padStart(6, '0')}`
    const object = this.#put(
      path,
      stored(this.altering?.(body) ?? body, {
        ...this.shownBeside.get(path),
        id,
        uri: `https://api.example.com/${path}/${id}`,
      }),
    )
    if (!TOLD_ONCE.has(path)) return object
    const token = `token-told-once-${id}`
    this.tokens.set(token, id)
    this.#put(path, { ...object, token: null })
    return { ...object, id: this.naming?.(id) ?? id, token: this.telling === undefined ? token : this.telling(token) }
  }

  update(path: string, id: string, body: RequestBody): RemoteObject {
    const before = this.get(path, id)
    if (before === undefined) throw refusal('NotFound', 404, `PATCH ${path}: there is no ${id}`)
    this.#refuse({ method: 'PATCH', path, id, body })
    this.#refuseUnknownIds(path, body)
    return this.#put(path, stored(body, before))
  }

  /** Makes the server return another state of an object. */
  replace(path: string, object: RemoteObject): void {
    this.#put(path, object)
  }

  delete(path: string, id: string): 'deleted' | 'absent' {
    this.#refuse({ method: 'DELETE', path, id })
    const user = this.userOf(id)
    if (user !== undefined) throw refusal('Conflict', 409, `DELETE ${path}: ${user} uses ${id}`)
    for (const rule of this.#rulesOf(id)) this.#of('ip_policy_rules').delete(rule.id)
    return this.#of(path).delete(id) ? 'deleted' : 'absent'
  }

  /** Id of an object that prevents the deletion of `id`. */
  userOf(id: string): string | undefined {
    const holds = (ids: readonly string[]): boolean => ids.includes(id)
    const backend = this.list('backends/failover').find(({ backends }) => holds(backends as readonly string[]))
    return backend?.id ?? this.list('edges/tls').find((edge) => holds(authoritiesOf(edge)))?.id
  }

  #refuse(write: Incoming): void {
    const refused = this.refusing?.(write)
    if (refused !== undefined) throw refused
  }

  #rulesOf(policy: unknown): readonly RemoteObject[] {
    return this.list('ip_policy_rules').filter((rule) => (rule.ip_policy as { id: string }).id === policy)
  }

  #refuseUnknownIds(path: string, { backends, ip_policy_id: policy, mutual_tls: mutualTLS }: RequestBody): void {
    const children = Array.isArray(backends) ? backends : []
    const unknown = children.find((child) => this.get('backends/tunnel_group', child) === undefined)
    if (unknown !== undefined) throw refusal('Invalid', 400, `${path}: backends: there is no ${String(unknown)}`)
    const authority = authoritiesIn(mutualTLS).find((id) => this.get('certificate_authorities', id) === undefined)
    if (authority !== undefined) throw refusal('Invalid', 400, `${path}: mutual_tls: there is no ${authority}`)
    if (typeof policy === 'string' && this.get('ip_policies', policy) === undefined) {
      throw refusal('Invalid', 400, `${path}: ip_policy_id: there is no ${policy}`)
    }
  }

  #put(path: string, object: RemoteObject): RemoteObject {
    this.#of(path).set(object.id, object)
    return object
  }

  #of(path: string): Map<string, RemoteObject> {
    const objects = this.#collections.get(path) ?? new Map<string, RemoteObject>()
    this.#collections.set(path, objects)
    return objects
  }
}

/** Ids in the module as sent. */
function authoritiesIn(module: unknown): readonly string[] {
  return (
    (module as { readonly certificate_authority_ids?: readonly string[] } | undefined)?.certificate_authority_ids ?? []
  )
}

/** Ids in the module as stored in an edge. */
function authoritiesOf({ mutual_tls: module }: RemoteObject): readonly string[] {
  const held = module as { readonly certificate_authorities?: readonly { readonly id: string }[] } | undefined
  return (held?.certificate_authorities ?? []).map(({ id }) => id)
}

/** Collections whose objects have a token. */
const TOLD_ONCE: ReadonlySet<string> = new Set(['api_keys', 'credentials'])

/** A refusal that certainly did nothing. */
export function refusal(code: ApiErrorCode, status: number, message: string): ApiError {
  return new ApiError(code, message, { definite: true, status })
}

/** A write to the API, as the model's client reports it. */
export interface SentWrite {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly collection: Collection
  readonly body: RequestBody
}
