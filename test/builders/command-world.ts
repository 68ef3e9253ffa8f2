import { ApiError } from '../../src/api/errors.ts'
import { tunnelSession } from '../../src/kinds/tunnel-session.ts'
import { tunnelSessionCommand } from '../../src/kinds/tunnel-session-command.ts'
import type { KubeClient, KubeObject } from '../../src/kube/types.ts'
import type { AccountResource } from '../../src/managed/account-resource.ts'
import { fullAccess } from '../../src/managed/accounts/access.ts'
import { KindsRegistry, resourceTypeOf } from '../../src/managed/kinds-registry.ts'
import type { Blocked, GrantedAccess, MemberSession } from '../../src/managed/run/session.ts'
import { CommandReconciler } from '../../src/managed/sessions/command-reconciler.ts'
import type { CommandResource } from '../../src/managed/sessions/command-resource.ts'
import { type MirroredObject, mirrorName, ownerReference } from '../../src/managed/sessions/mirrored.ts'
import type { Outcome } from '../../src/runtime/outcome.ts'
import { FakeClock } from './fake-clock.ts'
import { ModelKube } from './model-kube.ts'
import { mirroredAccount, session } from './sessions.ts'

type Fields = Readonly<Record<string, unknown>>

const commands = resourceTypeOf(tunnelSessionCommand)
const sessions = resourceTypeOf(tunnelSession)
const kinds = new KindsRegistry([tunnelSession, tunnelSessionCommand])

/** Thrown where a process ends, and never handled: nothing happens after it. */
class Death extends Error {}

/**
 * A namespace with mirrored sessions, an API that counts what it receives, and processes that may die at any externally
 * visible instruction.
 */
export class CommandWorld {
  readonly clock = new FakeClock()
  readonly kube = new ModelKube()
  account: AccountResource = mirroredAccount('default')
  /** Every POST, such as `update ts_1`. */
  readonly posts: string[] = []
  /** When each of these was sent, on the test's clock. */
  readonly postedAt: number[] = []
  readonly events: string[] = []
  /** The API's error for a POST that it would otherwise accept. */
  answer: (post: string) => Error | undefined = () => undefined
  blocked: Blocked | undefined
  /** What commands may do in the account. */
  access: GrantedAccess = fullAccess
  settled = true
  /** This many deletions are answered 404 by an intermediary. */
  lostDeletions = 0
  /** The process dies after this many effects: before the next one, or with its answer lost. */
  dies: { readonly after: number; readonly when: 'before' | 'after' } | undefined
  /** Runs once, right before the operator's next write to Kubernetes. */
  beforeWrite: (() => void) | undefined
  #effects = 0
  #reconciler: CommandReconciler

  constructor() {
    this.#reconciler = this.#start()
  }

  /** Adds a session of the account that the mirror shows. */
  show(
    id: string,
    fields: Fields = {},
    labels: Readonly<Record<string, string>> = {},
    namespace = 'shop',
  ): MirroredObject {
    const name = mirrorName('ts-', id)
    const key = { namespace, name }
    this.kube.create(sessions, key, {
      metadata: {
        labels: { 'culvert.dev/os': 'linux', ...labels },
        ownerReferences: [ownerReference(this.account)],
        creationTimestamp: new Date(this.clock.now()).toISOString(),
      },
    })
    const status = { ...tunnelSession.status(session(id, fields)), accountRef: { kind: 'Account', name: 'default' } }
    return this.kube.mergePatch<MirroredObject>(sessions, key, { status }, { subresource: 'status' })
  }

  command(spec: Fields, name = 'now'): void {
    this.kube.create(commands, { namespace: 'shop', name }, { spec })
  }

  delete(name: string): void {
    this.kube.delete(commands, { namespace: 'shop', name })
  }

  /** Like another worker: an update of the session is about to be sent for the command. */
  beginUpdate(name: string, id: string): void {
    const sentAt = new Date(this.clock.now()).toISOString()
    const status = {
      accountRef: { kind: 'Account', name: 'default' },
      targets: [{ id, actions: [{ action: 'Update', state: 'Sent', sentAt }] }],
    }
    this.kube.mergePatch(commands, { namespace: 'shop', name }, { status }, { subresource: 'status' })
  }

  get(name = 'now'): CommandResource | undefined {
    return this.kube.get<CommandResource>(commands, { namespace: 'shop', name })
  }

  /** States of every action, by target: `{ts_1: ['Done', 'Pending']}`. */
  states(name = 'now'): Readonly<Record<string, readonly string[]>> {
    const targets = this.get(name)?.status?.targets ?? []
    return Object.fromEntries(targets.map(({ id, actions }) => [id, actions.map(({ state }) => state)]))
  }

  /**
   * The command's state by the conditions that `kubectl wait` uses, and the reason: `Complete AllDone`; '' while there
   * are none.
   */
  phase(name = 'now'): string {
    const conditions = this.get(name)?.status?.conditions ?? []
    const ends = conditions.filter(({ type }) => ['Complete', 'Failed'].includes(type))
    const met = ends.filter(({ status }) => status === 'True').map(({ type }) => type)
    return ends.length === 0 ? '' : `${met.join('+') || 'Running'} ${ends[0]?.reason}`
  }

  /** Sets in the spec how long the command is kept after it has finished. */
  keepFor(ttlAfterFinished: string | null, name = 'now'): void {
    this.kube.mergePatch(commands, { namespace: 'shop', name }, { spec: { ttlAfterFinished } })
  }

  /** One reconcile; undefined if the process died in it and another was started. */
  async reconcile(name = 'now'): Promise<Outcome | undefined> {
    try {
      const outcome = await this.#reconciler.reconcile({ kind: 'TunnelSessionCommand', namespace: 'shop', name })
      // A dead process may have caught its own end; it does nothing afterwards.
      if (outcome.type !== 'backoff' || !(outcome.error instanceof Death)) return outcome
    } catch (error) {
      if (!(error instanceof Death)) throw error
    }
    this.dies = undefined
    this.#reconciler = this.#start()
    return undefined
  }

  /** Reconciles as the controller would, until nothing is left to do, at most `times`. */
  async settle(name = 'now', times = 20): Promise<Outcome> {
    for (let left = times; left > 0; left--) {
      const outcome = await this.reconcile(name)
      if (outcome?.type === 'done') return outcome
      if (outcome?.type === 'after') await this.clock.advance(outcome.ms)
    }
    throw new Error(`not settled: ${JSON.stringify(this.get(name)?.status)}`)
  }

  /** Ends the process and starts another one, with an empty memory. */
  restart(): void {
    this.#reconciler = this.#start()
  }

  #start(): CommandReconciler {
    let dead = false
    const effect = async <T>(act: () => T): Promise<T> => {
      if (dead) throw new Death()
      const last = this.dies !== undefined && this.#effects++ >= this.dies.after
      if (last && this.dies?.when === 'before') {
        dead = true
        throw new Death()
      }
      const result = act()
      if (!last) return result
      dead = true
      throw new Death()
    }
    const write = <T>(act: () => T): Promise<T> => {
      const { beforeWrite } = this
      this.beforeWrite = undefined
      beforeWrite?.()
      return effect(act)
    }
    const kube: Pick<KubeClient, 'get' | 'mergePatch' | 'delete'> = {
      get: async (type, key) => this.kube.get(type, key),
      mergePatch: (type, key, patch, options) => write(() => this.kube.mergePatch(type, key, patch, options)),
      delete: async (type, key, options) => {
        // A 404 counts as "there was none".
        return this.lostDeletions-- > 0 ? false : await write(() => this.kube.delete(type, key, options))
      },
    }
    const access = () => this.access
    const live = {
      account: { kind: 'Account', name: 'default' },
      key: { kind: 'Account', namespace: 'edge', name: 'default' },
      get access() {
        return access()
      },
      blocked: () => this.blocked,
      turn: () => undefined,
      reportFailure: () => undefined,
      calls: {
        command: (_: unknown, id: string, command: string) =>
          effect(() => {
            this.posts.push(`${command} ${id}`)
            this.postedAt.push(this.clock.now())
            const refused = this.answer(`${command} ${id}`)
            if (refused !== undefined) throw refused
          }),
      },
    } as unknown as MemberSession & { readonly cache: object }
    Object.assign(live, { cache: {} })
    return new CommandReconciler({
      kinds,
      resources: {
        get: () => undefined,
        namespace: () => undefined,
        hasAccount: ({ name, kind }) => kind === 'Account' && name === 'default',
      },
      sessions: {
        command: (name) => this.kube.get<CommandResource>(commands, name),
        account: () => this.account,
        mirrored: (name) => this.kube.get<MirroredObject>(sessions, name),
        namespacesShowing: (_, name) =>
          this.kube
            .list<MirroredObject>(sessions)
            .items.filter(({ metadata }) => metadata.name === name)
            .map(({ metadata }) => metadata.namespace ?? ''),
        mirroredIn: (_, namespace) =>
          this.kube.list<MirroredObject>(sessions).items.filter(({ metadata }) => metadata.namespace === namespace),
        actionsOn: (_, { id, action }, { metadata }) =>
          this.kube
            .list<CommandResource>(commands)
            .items.filter((command) => command.metadata.uid !== metadata.uid)
            .flatMap(({ status }) => status?.targets ?? [])
            .filter((target) => target.id === id)
            .flatMap(({ actions }) => actions.filter((each) => each.action === action)),
        mirrorHolder: ({ metadata: { ownerReferences = [] } }: KubeObject) =>
          ownerReferences.some(({ uid }) => uid === this.account.metadata.uid) ? this.account : undefined,
      },
      accounts: { session: () => live },
      store: { kube, record: () => undefined },
      kube,
      events: { record: (_, { reason }) => this.events.push(reason) },
      clock: this.clock,
      isSettled: () => this.settled,
    })
  }
}

/** A refusal in the API's words, with a code of its own. */
export function refusal(status: number, errorCode: string, message: string): ApiError {
  const code = status === 404 ? 'NotFound' : status === 409 ? 'Conflict' : 'Invalid'
  return new ApiError(code, `POST tunnel_sessions: ${message}`, { definite: true, status, errorCode })
}
