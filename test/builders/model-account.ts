import { ApiError } from '../../src/api/errors.ts'
import type { Collection, RemoteObject, RequestBody } from '../../src/api/types.ts'
import { stored } from './kinds/api-model.ts'

/** An account at the API in memory: collections of objects with ids of the server's, in the order of their creation. */
export class ModelAccount {
  /** Every create that took effect, by collection and metadata. */
  readonly created: string[] = []
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
    this.#refuseUnknownIds(path, body)
    const { ip_policy_id: policy, cidr } = body
    if (policy !== undefined && this.#rulesOf(policy).some((rule) => rule.cidr === cidr)) {
      throw refusal('Conflict', 409, `POST ${path}: ${String(cidr)} stands in the policy already`)
    }
    this.created.push(`${path} ${String(body.metadata)}`)
    const id = `${path.replaceAll('/', '-')}_${String(++this.#ids).padStart(6, '0')}`
    return this.#put(path, stored(body, { id, uri: `https://api.example.com/${path}/${id}` }))
  }

  update(path: string, id: string, body: RequestBody): RemoteObject {
    const before = this.get(path, id)
    if (before === undefined) throw refusal('NotFound', 404, `PATCH ${path}: there is no ${id}`)
    this.#refuseUnknownIds(path, body)
    return this.#put(path, stored(body, before))
  }

  delete(path: string, id: string): 'deleted' | 'absent' {
    const user = this.list('backends/failover').find(({ backends }) => (backends as readonly string[]).includes(id))
    if (user !== undefined) throw refusal('Conflict', 409, `DELETE ${path}: ${user.id} uses ${id}`)
    for (const rule of this.#rulesOf(id)) this.#of('ip_policy_rules').delete(rule.id)
    return this.#of(path).delete(id) ? 'deleted' : 'absent'
  }

  #rulesOf(policy: unknown): readonly RemoteObject[] {
    return this.list('ip_policy_rules').filter((rule) => (rule.ip_policy as { id: string }).id === policy)
  }

  #refuseUnknownIds(path: string, { backends, ip_policy_id: policy }: RequestBody): void {
    const children = Array.isArray(backends) ? backends : []
    const unknown = children.find((child) => this.get('backends/tunnel_group', child) === undefined)
    if (unknown !== undefined) throw refusal('Invalid', 400, `${path}: backends: there is no ${String(unknown)}`)
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

function refusal(code: 'Conflict' | 'NotFound' | 'Invalid', status: number, message: string): ApiError {
  return new ApiError(code, message, { definite: true, status })
}

/** What a write to the API did, as the model's client tells it. */
export interface SentWrite {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly collection: Collection
  readonly body: RequestBody
}
