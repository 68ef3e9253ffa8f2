import { anyObject, integer, listOf, mapOf, nonEmptyString, object, string } from '../fields/readers.ts'
import type { Services } from '../objects/write-context.ts'
import { newToken } from '../store/tokens.ts'
import { idPrefix } from '../values/ids.ts'
import { isJsonObject, type JsonObject, parseStoredObject } from '../values/json.ts'
import { RequestError } from '../values/request-error.ts'
import { createAccount, createKey, plant } from './bootstrap.ts'

/** What to store in the emulator in one go. */
export interface SeedSpec {
  /** The account that `apiKeys`, `objects` and `bulk` go to. Default: the one the emulator started with. */
  readonly account?: string | undefined
  /** Additional accounts, each with an administrator and one key; `apiKey` is the token, generated when absent. */
  readonly accounts?:
    | readonly { readonly name?: string | undefined; readonly apiKey?: string | undefined }[]
    | undefined
  /** Additional keys; `ownerId` defaults to the account's first user. */
  readonly apiKeys?:
    | readonly {
        readonly token?: string | undefined
        readonly ownerId?: string | undefined
        readonly description?: string | undefined
      }[]
    | undefined
  /** Create bodies by collection, including collections that the API does not serve; `id` may be given. */
  readonly objects?: Readonly<Record<string, readonly JsonObject[]>> | undefined
  /** Many objects from one body, in which `{n}` becomes 1, 2, … */
  readonly bulk?:
    | readonly { readonly collection: string; readonly count: number; readonly body?: JsonObject | undefined }[]
    | undefined
}

export interface SeedResult {
  readonly accounts: readonly { account: string; userId: string; keyId: string; apiKey: string }[]
  readonly apiKeys: readonly { id: string; token: string }[]
  /** Ids by collection, in the order given. */
  readonly objects: Readonly<Record<string, readonly string[]>>
  readonly bulk: readonly { collection: string; count: number }[]
}

const specForm = object({
  account: { read: nonEmptyString, absent: null },
  accounts: {
    read: listOf(object({ name: { read: string, absent: 'other' }, apiKey: { read: nonEmptyString, absent: null } })),
    absent: [],
  },
  apiKeys: {
    read: listOf(
      object({
        token: { read: nonEmptyString, absent: null },
        ownerId: { read: nonEmptyString, absent: null },
        description: { read: string, absent: '' },
      }),
    ),
    absent: [],
  },
  objects: { read: mapOf(listOf(anyObject)), absent: {} },
  bulk: {
    read: listOf(
      object({
        collection: { read: nonEmptyString },
        count: { read: integer(1, 1_000_000) },
        body: { read: anyObject, absent: {} },
      }),
    ),
    absent: [],
  },
})

/** The schema of what `readSeedSpec` accepts. */
export const SEED_SCHEMA = specForm.schema

/** Reads a seed sent to the admin surface. */
export function readSeedSpec(body: JsonObject): SeedSpec {
  const seed = specForm(body, 'seed')
  const objects = isJsonObject(seed.objects) ? seed.objects : {}
  return {
    account: textIn(seed, 'account'),
    accounts: itemsIn(seed.accounts).map((entry) => ({ name: textIn(entry, 'name'), apiKey: textIn(entry, 'apiKey') })),
    apiKeys: itemsIn(seed.apiKeys).map((entry) => ({
      token: textIn(entry, 'token'),
      ownerId: textIn(entry, 'ownerId'),
      description: textIn(entry, 'description'),
    })),
    objects: Object.fromEntries(Object.entries(objects).map(([path, bodies]) => [path, itemsIn(bodies)])),
    bulk: itemsIn(seed.bulk).map((entry) => ({
      collection: textIn(entry, 'collection') ?? '',
      count: Number(entry.count),
      body: isJsonObject(entry.body) ? entry.body : {},
    })),
  }
}

/** Stores everything, or nothing when a part of it is refused. */
export function seed(spec: SeedSpec, services: Services, defaultAccount: string): SeedResult {
  const account = spec.account ?? defaultAccount
  if (services.store.one('SELECT 1 FROM accounts WHERE id = ?', [account]) === undefined) {
    throw new RequestError('unknownReference', `account: there is no account ${account}`, {
      field: 'account',
      id: account,
    })
  }
  return services.store.transaction(() => ({
    accounts: (spec.accounts ?? []).map(({ name = 'other', apiKey = newToken(services.random) }) => ({
      ...createAccount(services, name, apiKey),
      apiKey,
    })),
    apiKeys: (spec.apiKeys ?? []).map(({ token = newToken(services.random), ownerId, description = '' }) => ({
      id: createKey(services, account, ownerId ?? firstUser(services, account), token, description),
      token,
    })),
    objects: Object.fromEntries(
      Object.entries(spec.objects ?? {}).map(([path, bodies]) => [
        path,
        bodies.map((body) => plantBody(services, account, path, body)),
      ]),
    ),
    bulk: (spec.bulk ?? []).map(({ collection, count, body = {} }) => {
      const template = JSON.stringify(body)
      for (let number = 1; number <= count; number += 1) {
        plant(services, account, collection, parseStoredObject(template.replaceAll('{n}', String(number))))
      }
      return { collection, count }
    }),
  }))
}

function plantBody(services: Services, account: string, path: string, { id, ...body }: JsonObject): string {
  if (id === undefined) return plant(services, account, path, body).id
  const prefix = services.resources.byPath(path)?.idPrefix
  if (typeof id !== 'string' || idPrefix(id) !== prefix) {
    throw new RequestError('invalidField', `id: ids of ${path} start with ${String(prefix)}_`, { field: 'id' })
  }
  return plant(services, account, path, body, id).id
}

/** The oldest user: the administrator with whom the account was created. */
function firstUser(services: Services, account: string): string {
  const user = services.store.page(account, 'users', Number.MAX_SAFE_INTEGER).at(-1)
  if (user === undefined) throw new Error(`account ${account} has no user`)
  return user.id
}

function itemsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function textIn(value: JsonObject, name: string): string | undefined {
  const text = value[name]
  return typeof text === 'string' ? text : undefined
}
