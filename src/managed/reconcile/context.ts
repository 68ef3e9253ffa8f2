import type { AccountCache } from '../../api/account-cache.ts'
import type { ApiError } from '../../api/errors.ts'
import type { ApiClient, Collection, RemoteObject, RequestBody, WriteOptions } from '../../api/types.ts'
import type { KubeClient, KubeObject, ResourceType } from '../../kube/types.ts'
import type { Clock } from '../../util/clock.ts'
import type { Logger } from '../../util/logger.ts'
import type { Random } from '../../util/random.ts'
import type { Access } from '../accounts/access.ts'
import type { AccountKey } from '../accounts/account-resource.ts'
import type { CustomResource, ResourceName, TargetKey } from '../cr.ts'
import type { Claims } from '../descriptor/access.ts'
import type { CommonSpec } from '../descriptor/common.ts'
import type { CompanionPolicy } from '../descriptor/companion.ts'
import type { OutputTarget } from '../descriptor/descriptor.ts'
import type { AccountName } from '../identity/attempt.ts'
import type { IdsInFlight } from '../identity/ids-in-flight.ts'
import type { Fingerprints } from '../inputs/fingerprints.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import type { Reason } from '../status/reasons.ts'
import type { Memories } from './memory.ts'

/**
 * The CRs as the watches know them, plus the responses of our own writes. An id says nothing without its account: each API gives its own, and one
 * that means harm gives those of others. What one API shows to two accounts is one object to both.
 */
export interface Resources {
  get(name: ResourceName): CustomResource | undefined
  /** A namespace with its labels; undefined where namespaces are not watched. */
  namespace(name: string): KubeObject | undefined
  /** CRs of other namespaces whose specs name that CR; each once. */
  crossReferrersOf(name: ResourceName): readonly CustomResource[]
  /** The account that a CR lives in or is to live in. */
  accountKeyOf(cr: CustomResource): AccountKey | undefined
  /** Whether the CR's object is, or is to be, in that account, whatever the account is called. */
  livesIn(cr: CustomResource, account: AccountKey): boolean
  /** CRs whose spec refers to `target`, by its name or, in its account, by one of the ids; each once. */
  referrersOf(target: TargetKey): readonly CustomResource[]
  /** The CR that holds `id` of that account, as its own or as a former one that is still to be deleted; of several whose statuses say so, the one that has it. */
  holderOf(account: AccountKey, id: string): CustomResource | undefined
  /** The CR whose status names the object of that account as a part of its own. */
  childHolderOf(account: AccountKey, id: string): CustomResource | undefined
  /** Whether a CR of whichever account holds an object of that id. */
  isClaimed(id: string): boolean
  /** The CR of that account whose own annotation `internal.culvert.dev/id` names `id`. The seal is not checked. */
  noterOf(account: AccountKey, id: string): CustomResource | undefined
  /**
   * Claims an object that no status names, until `unclaim`: what is noted in two runs at the same time would be in two statuses.
   * @returns the CR that has it already, if another does.
   */
  claim(account: AccountKey, id: string, cr: CustomResource): CustomResource | undefined
  /** Ends the claims of the CR: what came of them stands in its status. */
  unclaim(cr: CustomResource): void
  /** Secrets and ConfigMaps that the CR owns for its outputs, as the watch of their metadata has shown them. */
  outputsOf(cr: CustomResource): readonly OutputTarget[]
  /** Whether an Account (in `namespace`) or ClusterAccount of that name exists. */
  hasAccount(account: AccountName, namespace: string): boolean
  /** Whether the spec of that account limits how many requests a minute may be sent. */
  isPaced(account: AccountName, namespace: string): boolean
  /** Takes the response of one of our own writes in at once, so that the next reconcile does not act on an older copy. */
  record(object: KubeObject): void
  /**
   * Sends a write of our own to `object` and records its response. A watch may show the write before the response is in; it is
   * no change by somebody else and asks for no reconcile.
   */
  write<T extends KubeObject>(object: KubeObject, send: () => Promise<T>): Promise<T>
}

/** Why an account cannot be used now. */
export interface Blocked {
  readonly reason: Reason
  readonly message: string
  /** Over in a moment: not worth a condition. */
  readonly silent?: boolean
  /** Nothing helps until somebody changes something. */
  readonly lasting?: boolean
}

/** What is known of an account, and writes to it, each of which has to say for whom and why it is made. */
export interface SessionCache extends Omit<AccountCache, 'create' | 'update' | 'delete'> {
  create(collection: Collection, body: RequestBody, options: WriteOptions): Promise<RemoteObject>
  update(collection: Collection, id: string, body: RequestBody, options: WriteOptions): Promise<RemoteObject>
  delete(collection: Collection, id: string, options: WriteOptions): Promise<'deleted' | 'absent'>
}

/** The calls of an account that no cache stands behind. */
export interface SessionCalls extends Pick<ApiClient, 'get' | 'list'> {
  /** As `CommandClient` has it. */
  command(collection: Collection, id: string, command: string, options: WriteOptions): Promise<void>
}

/** Access to one account at the API. */
export interface AccountSession {
  readonly account: AccountName
  /** The same, over all namespaces. */
  readonly key: AccountKey
  /** Base URL of the API. */
  readonly address: string
  readonly cache: SessionCache
  /** Lists past the cache, for what comes and goes by the thousand, and commands. */
  readonly calls: SessionCalls
  /** Why no call may be made now; undefined when all is well. */
  blocked(): Blocked | undefined
  /** How long ago the API first refused the key, in milliseconds; undefined while it takes it. */
  refusedForMs(): number | undefined
  /** Keyed digest of `text` that only a holder of the account's key can make. */
  seal(text: string): string
  /** Asks the account to look for itself soon. */
  recheck(): void
  /** A call failed in a way that may concern the whole account: the account looks for itself. */
  reportFailure(error: ApiError): void
}

/** A wait for a share of an account's requests. */
export interface ShareWait {
  readonly message: string
  readonly ms: number
}

/** A resource or command that lives in an account. */
export type AccountMember = KubeObject & { readonly spec: Pick<CommonSpec, 'accountRef'> }

/** Access to an account for one of them. */
export interface MemberSession extends AccountSession {
  /** What it may do there. */
  readonly access: Access
  /** How long it has to wait until its share of the account's requests has room for it; undefined when it has. Asked when it is about to begin. */
  turn(): ShareWait | undefined
  /** Why it may not use the account after all, now that its references tell more of what it claims; undefined when it may. */
  refusal(claims: Claims): Blocked | undefined
}

export interface Accounts {
  /** The session of an account for a resource or command, or why there is none for it. */
  session(account: AccountName, cr: AccountMember): MemberSession | Blocked
}

/** Which keys accounts work with, whoever issued them. */
export interface KeyDependents {
  /**
   * `Kind/name` of an account that works with the token of the object `id`, which `cr` holds, known by its digest; without one, of an account
   * at the same API that may, since no resource holds its key.
   */
  dependentOf(cr: CustomResource, id: string, digest: string | undefined): Promise<string | undefined>
  /** The same, and who else needs the account beside `cr`: of several accounts one that is needed. */
  useOf(cr: CustomResource, id: string, digest: string | undefined): Promise<KeyUse | undefined>
}

/** An account that works with a token. */
export interface KeyUse {
  readonly account: AccountName & { readonly namespace?: string | undefined }
  /** Another resource that is in the account, or waits to be, as messages name it; undefined when there is none. */
  readonly neededBy: string | undefined
}

/** Events about CRs, on transitions only. */
export interface EventSink {
  record(
    about: KubeObject,
    event: { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string },
  ): void
}

/** Numbers that the reconciler counts. */
export interface ManagedMetrics {
  drift(kind: string, field: string): void
}

/** When writes of a former leader, or of a former life of this process, are surely over. */
export interface Leadership {
  /** Monotonic time since when this process leads. */
  leadingSince(): number
}

/** Waiting times of the create protocol, in milliseconds. */
export interface ProtocolTimes {
  /** Longest time between the moment a request is sent and the moment it can no longer take effect. */
  readonly requestTimeoutMs: number
  /** Pause between two lists that must agree before something counts as absent. */
  readonly scanPauseMs: number
  /** How long reads may lag behind a create: before, what this process has made never counts as absent. */
  readonly readLagMs: number
}

/** Everything the reconciler of managed kinds works with. */
export interface ManagedContext {
  readonly kinds: KindsRegistry
  readonly resources: Resources
  readonly accounts: Accounts
  readonly keyDependents: KeyDependents
  readonly kube: KubeClient
  readonly companions: {
    readonly policy: CompanionPolicy
    /** Watches the companions of that type from now on: it is installed. */
    watch(type: ResourceType): void
  }
  readonly events: EventSink
  readonly metrics: ManagedMetrics
  readonly leadership: Leadership
  readonly memories: Memories
  readonly inFlight: IdsInFlight
  readonly times: ProtocolTimes
  /** Tells this operator's objects from another's: `docs/decisions`. */
  readonly installation: string
  readonly fingerprints: Fingerprints
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}
