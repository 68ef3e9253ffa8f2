import type { RecordedSource } from '../../runtime/object-source.ts'
import { type AccountKey, type AccountResource, accountKey, keyOfAccount, nameOfAccount } from '../account-resource.ts'
import { type ResourceName, shortName } from '../cr.ts'
import type { Action } from '../descriptor/command.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import type { ResourceStore } from '../store/resource-store.ts'
import type { CoreWatches } from '../store/watches.ts'
import { type CommandResource, commandStatus } from './command-resource.ts'
import { isOn, mirrorNamespace, settingsOf } from './mirror-settings.ts'
import { accountOfMirror, accountOwners, type MirroredObject } from './mirrored.ts'

/** The watches of sessions, by kind. */
export interface SessionWatches {
  readonly mirrors: ReadonlyMap<string, RecordedSource<MirroredObject>>
  readonly commands: ReadonlyMap<string, RecordedSource<CommandResource>>
}

const indexes = {
  /** Mirrors: UID and name of the account whose object they show. */
  shows: 'shows',
  /** Accounts: where their objects are mirrored. */
  mirroredInto: 'mirrored into',
  /** Mirrors: their names. */
  mirrorName: 'mirror name',
  /** Commands: actions that they have begun. */
  actedOn: 'acted on',
} as const

/** Mirrors and commands, found by index. To be constructed before the watches start. */
export class SessionStore {
  readonly #watches: Pick<CoreWatches, 'accounts'> & SessionWatches
  readonly #resources: ResourceStore

  constructor(kinds: KindsRegistry, watches: Pick<CoreWatches, 'accounts'> & SessionWatches, resources: ResourceStore) {
    this.#watches = watches
    this.#resources = resources
    resources.recordInto(watches.mirrors)
    resources.recordInto(watches.commands)
    for (const source of watches.mirrors.values()) {
      source.addIndex(indexes.shows, mirroredFor)
      source.addIndex(indexes.mirrorName, ({ metadata }) => [metadata.name])
    }
    for (const source of watches.commands.values()) source.addIndex(indexes.actedOn, actedOn)
    for (const source of watches.accounts.values()) {
      source.addIndex(indexes.mirroredInto, (account) => placesOfMirrors(kinds, account))
    }
  }

  account(key: AccountKey): AccountResource | undefined {
    return this.#resources.account(key)
  }

  /**
   * The mirrors of that kind that belong to the account: by owner reference, or by their own account reference if that
   * was removed.
   */
  mirroredOf(kind: string, account: AccountResource): readonly MirroredObject[] {
    const store = this.#watches.mirrors.get(kind)?.store
    const found = [account.metadata.uid, shortName(nameOfAccount(account))].flatMap(
      (value) => store?.byIndex(indexes.shows, value) ?? [],
    )
    const { namespace } = account.metadata
    return [...new Set(found)].filter((object) => {
      const holder = this.mirrorHolder(object)
      const inReach = namespace === undefined || object.metadata.namespace === namespace
      return holder === undefined ? inReach : holder.metadata.uid === account.metadata.uid
    })
  }

  mirrored(name: ResourceName): MirroredObject | undefined {
    return this.#watches.mirrors.get(name.kind)?.store.get(name)
  }

  /** Accounts whose objects are mirrored into a namespace by CRs of that kind. */
  mirroredInto(kind: string, namespace: string): readonly AccountResource[] {
    const all = [...this.#watches.accounts.values()]
    return all.flatMap(({ store }) => store.byIndex(indexes.mirroredInto, placeText(kind, namespace)))
  }

  command(name: ResourceName): CommandResource | undefined {
    return this.#watches.commands.get(name.kind)?.store.get(name)
  }

  /**
   * Actions of that name that commands other than `cr` took on the object of that account, whatever name the account
   * has.
   */
  actionsOn(
    account: AccountKey,
    { id, action }: { readonly id: string; readonly action: string },
    cr: CommandResource,
  ): readonly Action[] {
    const all = [...this.#watches.commands.values()].flatMap(({ store }) =>
      store.byIndex(indexes.actedOn, `${action} ${id}`),
    )
    return all.flatMap((command) => {
      const { accountRef, targets = [] } = commandStatus(command)
      if (accountRef === undefined || command.metadata.uid === cr.metadata.uid) return []
      if (!this.#resources.isAtOneAPI(accountKey(accountRef, command.metadata.namespace ?? ''), account)) return []
      const actions = targets.find((target) => target.id === id)?.actions ?? []
      return actions.filter((each) => each.action === action)
    })
  }

  /** Namespaces in which mirrors of that kind and name show an object of the account, whatever name the account has. */
  namespacesShowing(kind: string, name: string, account: AccountKey): readonly string[] {
    const all = this.#watches.mirrors.get(kind)?.store.byIndex(indexes.mirrorName, name) ?? []
    return all.flatMap((object) => {
      const holder = this.mirrorHolder(object)
      const isShown = holder !== undefined && this.#resources.isOne(keyOfAccount(holder), account)
      return isShown ? [object.metadata.namespace ?? ''] : []
    })
  }

  /** Every mirror of that kind in a namespace. */
  mirroredIn(kind: string, namespace: string): readonly MirroredObject[] {
    const all = this.#watches.mirrors.get(kind)?.store.list() ?? []
    return all.filter(({ metadata }) => metadata.namespace === namespace)
  }

  /** The account among the owners of a mirror, if it still exists. */
  mirrorHolder(object: MirroredObject): AccountResource | undefined {
    for (const { kind, name, uid } of accountOwners(object)) {
      const key = kind === 'Account' ? { kind, name, namespace: object.metadata.namespace } : { kind, name }
      const account = this.#watches.accounts.get(kind)?.store.get(key)
      if (account?.metadata.uid === uid) return account
    }
    return undefined
  }
}

/** Where the account's objects are mirrored, for each mirroring kind. */
function placesOfMirrors({ mirrors }: KindsRegistry, account: AccountResource): readonly string[] {
  return mirrors.flatMap((descriptor) => {
    const settings = settingsOf(descriptor, account)
    return isOn(settings) ? [placeText(descriptor.definition.kind, mirrorNamespace(settings, account))] : []
  })
}

/** The value of `mirroredInto`. */
function placeText(kind: string, namespace: string): string {
  return `${kind} ${namespace}`
}

/** Index values of a mirror: its owners, and the account whose object it shows. */
function mirroredFor(object: MirroredObject): readonly string[] {
  const account = accountOfMirror(object)
  return [...accountOwners(object).map(({ uid }) => uid), ...(account === undefined ? [] : [account])]
}

/** Index values of a command: each action that it has begun, with the id of its target. */
function actedOn(command: CommandResource): readonly string[] {
  return (commandStatus(command).targets ?? []).flatMap(({ id, actions }) => {
    return actions.filter(({ state }) => state !== 'Pending').map(({ action }) => `${action} ${id}`)
  })
}
