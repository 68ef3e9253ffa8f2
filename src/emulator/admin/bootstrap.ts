import { insert } from '../objects/operations.ts'
import { type Caller, type Services, WriteContext } from '../objects/write-context.ts'
import type { StoredObject } from '../store/database.ts'
import { storeToken } from '../store/tokens.ts'
import { type JsonObject, textOf } from '../values/json.ts'
import { invalid } from '../values/request-error.ts'

/** Key in `meta` of the account that the emulator started with. */
export const BOOT_ACCOUNT = 'boot_account'
const BOOT_KEY = 'boot_key'

/** An account with its administrator and one of the administrator's keys. */
export interface AccountKeys {
  readonly account: string
  readonly userId: string
  readonly keyId: string
}

/** Creates an object with an administrator's rights and without an event; with the given `id`, if any. */
export function plant(services: Services, account: string, path: string, body: JsonObject, id?: string): StoredObject {
  const resource = services.resources.byPath(path)
  if (resource === undefined) throw invalid(path, 'is not a collection')
  const context = WriteContext.own(services, account)
  return insert(resource, body, context, id).object
}

/** Creates an account with an administrator who owns an API key with this `token`. */
export function createAccount(services: Services, name: string, token: string): AccountKeys {
  return services.store.transaction(() => {
    const account = services.ids.next('acct')
    services.store.run('INSERT INTO accounts (id, name) VALUES (?, ?)', [account, name])
    const user = plant(services, account, 'users', { name: 'administrator', admin: true })
    const keyId = createKey(services, account, user.id, token, 'the key the emulator started with')
    return { account, userId: user.id, keyId }
  })
}

/** Creates another API key of an account, owned by `ownerId`. */
export function createKey(
  services: Services,
  account: string,
  ownerId: string,
  token: string,
  description: string,
): string {
  const body = { description, owner_id: ownerId }
  const key = plant(services, account, 'api_keys', body)
  storeToken(services.store, account, key.id, token)
  return key.id
}

/** The account that the emulator serves by default, created on the first start; its key then has this `token`. */
export function bootAccount(services: Services, token: string): Caller {
  const { store } = services
  return store.transaction(() => {
    const account = store.getMeta(BOOT_ACCOUNT)
    const keyId = store.getMeta(BOOT_KEY)
    const key = account === undefined || keyId === undefined ? undefined : store.get(account, 'api_keys', keyId)
    if (account !== undefined && key !== undefined) {
      storeToken(store, account, key.id, token)
      return { account, keyId: key.id, ownerId: textOf(key, 'owner_id'), admin: true }
    }
    const made = createAccount(services, 'default', token)
    store.setMeta(BOOT_ACCOUNT, made.account)
    store.setMeta(BOOT_KEY, made.keyId)
    return { account: made.account, keyId: made.keyId, ownerId: made.userId, admin: true }
  })
}

/** Makes new ids follow the stored ones, so that they stay in order of creation across restarts. */
export function followStoredIds({ store, ids, resources }: Services): void {
  for (const account of store.accounts()) {
    for (const { path } of resources.all) {
      ids.follow(store.newestId(account, path) ?? '')
    }
  }
}
