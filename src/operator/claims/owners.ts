import type { KubeObject } from '../../kube/types.ts'
import { type AccountKey, accountKey } from '../../managed/account-resource.ts'
import { nameOf, type ResourceName } from '../../managed/cr.ts'
import type { KindsRegistry } from '../../managed/kinds-registry.ts'
import { settingsOf } from '../../managed/services/settings.ts'
import { mirrorAccount } from '../../managed/sessions/mirror-reconciler.ts'
import type { ResourceStore } from '../../managed/store/resource-store.ts'
import { tunnelStatus } from '../../managed/tunnels/tunnel-resource.ts'
import type { ReconcileKey } from '../../runtime/controller.ts'
import { accountKeyOf } from '../controller-parts.ts'
import type { Watches } from '../watches.ts'

/**
 * The account to which something belongs; undefined while it has none. `gone` if it no longer exists: what remains to
 * be done then is to forget it.
 */
export type Owner = AccountKey | undefined | 'gone'

/** Finds the owner of what a key names. */
export type OwnerOf = (key: ReconcileKey) => Owner

/** The account of everything that is reconciled: it is worked on where its account is. */
export class Owners {
  readonly #kinds: KindsRegistry
  readonly #store: ResourceStore
  readonly #watches: Watches
  /** What a Service owns, as the watches have reported it. */
  readonly #parts: (service: ReconcileKey) => readonly KubeObject[]

  constructor(options: {
    readonly kinds: KindsRegistry
    readonly store: ResourceStore
    readonly watches: Watches
    readonly parts: (service: ReconcileKey) => readonly KubeObject[]
  }) {
    this.#kinds = options.kinds
    this.#store = options.store
    this.#watches = options.watches
    this.#parts = options.parts
  }

  readonly account: OwnerOf = (key) => {
    const account = accountKeyOf(key)
    return this.#store.account(account) === undefined ? 'gone' : account
  }

  readonly managed: OwnerOf = (key) => {
    const cr = this.#store.get(key)
    return cr === undefined ? 'gone' : this.#store.accountKeyOf(cr)
  }

  readonly command: OwnerOf = (key) => {
    const cr = this.#watches.commands.get(key.kind)?.store.get(key)
    return cr === undefined ? 'gone' : this.#store.accountKeyOf(cr)
  }

  readonly mirror: OwnerOf = (key) => this.account({ ...mirrorAccount(key) })

  /** That of its Backend, or of the one that it had. */
  readonly tunnel: OwnerOf = (key) => {
    const cr = this.#watches.composed.get(key.kind)?.store.get(key)
    const descriptor = this.#kinds.composed.find(({ definition }) => definition.kind === key.kind)
    if (cr === undefined || descriptor === undefined) return 'gone'
    const { namespace = '' } = cr.metadata
    const backend = this.#store.get({ kind: descriptor.backend, namespace, name: cr.spec.backendRef.name })
    if (backend !== undefined) return this.#store.accountKeyOf(backend)
    const { accountRef } = tunnelStatus(cr)
    return accountRef === undefined ? undefined : accountKey(accountRef, namespace)
  }

  /** That of what it owns; before there is anything, the one in which that would be made. */
  readonly service: OwnerOf = (key) => {
    for (const part of this.#parts(key)) {
      const owner = this.#ownerOfPart(nameOf(part))
      if (owner !== undefined && owner !== 'gone') return owner
    }
    const service = this.#watches.services?.store.get(key)
    if (service === undefined) return undefined
    const settings = settingsOf(service)
    if ('problems' in settings) return undefined
    const spec = settings.account === undefined ? {} : { accountRef: settings.account }
    return this.#store.accountKeyOf({ ...service, spec, status: {} })
  }

  #ownerOfPart(part: ResourceName): Owner {
    return this.#kinds.managedKind(part.kind) === undefined ? this.tunnel(part) : this.managed(part)
  }
}
