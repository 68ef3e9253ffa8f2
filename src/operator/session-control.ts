import { type AccountKey, accountText } from '../managed/account-resource.ts'
import { CommandReconciler } from '../managed/sessions/command-reconciler.ts'
import { subscribeCommands } from '../managed/sessions/command-wakeups.ts'
import { MirrorReconciler, mirrorKeys, subscribeMirrors } from '../managed/sessions/mirror-reconciler.ts'
import type { MirrorReports } from '../managed/sessions/mirror-report.ts'
import { MirrorWriter } from '../managed/sessions/mirror-writer.ts'
import { Controller, type ReconcileKey } from '../runtime/controller.ts'
import { tracedReconcile } from '../runtime/reconcile-spans.ts'
import type { AccountControl } from './account-control.ts'
import type { Division } from './claims/division.ts'
import { base, type Core, type ReconcilersOptions, tracing, WAITING } from './controller-parts.ts'

/** The controllers of tunnel sessions: mirrors of what an account lists, and commands. */
export class SessionControl {
  /** Mirrors have their own workers, so that thousands of writes delay nobody else. */
  readonly mirrors: Controller
  /** Commands have their own workers: a command occupies its worker for as long as it has requests to send. */
  readonly commands: Controller
  readonly #parts: ReconcilersOptions
  readonly #mirror: MirrorReconciler
  readonly #command: CommandReconciler

  /** @param stop ends mirrors between two writes */
  constructor(
    parts: ReconcilersOptions,
    { gate, owners }: Division,
    options: { core: Core; accounts: AccountControl; mirrorReports: MirrorReports; stop: AbortSignal },
  ) {
    this.#parts = parts
    const { core, accounts, mirrorReports, stop } = options
    const { registry } = core
    const { events } = core.context
    const { kinds, store, sessions, kube, clock, random, metrics } = parts
    const record = store.record.bind(store)
    this.#mirror = new MirrorReconciler({
      kinds,
      resources: sessions,
      session: registry.get.bind(registry),
      writer: new MirrorWriter({ kube, record, logger: parts.options.logger }),
      events,
      report: (key, account, conditions) => {
        if (mirrorReports.note(key, account, conditions)) accounts.wake({ ...key }, 'drift')
      },
      metrics: { leftOut: (account, count) => metrics.setSessionsLeftOut(account, count) },
      clock,
      random,
    })
    this.mirrors = new Controller({
      ...base(parts),
      ...WAITING,
      reconcile: gate.guard(
        owners.mirror,
        tracedReconcile({ ...tracing(parts), verb: 'mirror' }, (key) => this.#mirror.reconcile(key, stop)),
      ),
    })
    this.#command = new CommandReconciler({
      kinds,
      resources: store,
      sessions,
      accounts: registry,
      store: { kube, record },
      kube,
      events,
      clock,
      isSettled: (kind, account) => this.#mirror.isSettled(kind, account),
    })
    this.commands = new Controller({
      ...base(parts),
      ...WAITING,
      reconcile: gate.guard(
        owners.command,
        tracedReconcile(tracing(parts), (key) => this.#command.reconcile(key)),
      ),
    })
  }

  /** Has watches wake mirrors and commands. */
  subscribe(): void {
    const { kinds, store, watches } = this.#parts
    subscribeMirrors(kinds, watches.accounts, (key) => this.mirrors.enqueue(key, 'drift'))
    subscribeCommands(store.ownWrites, watches, (name) => this.commands.enqueue(name))
  }

  wakeCommand(key: ReconcileKey): void {
    this.commands.enqueue(key, 'drift')
  }

  wakeMirrorsOf(key: AccountKey): void {
    for (const shown of mirrorKeys(this.#parts.kinds, key)) this.mirrors.enqueue(shown, 'drift')
  }

  /** Forgets everything about an account that another operator works on from now on. */
  leave(key: AccountKey): void {
    const { store, watches } = this.#parts
    this.#mirror.leave(key)
    for (const { store: all } of watches.commands.values()) {
      for (const command of all.list()) if (isOf(key, store.accountKeyOf(command))) this.#command.forget(command)
    }
  }
}

function isOf(account: AccountKey, own: AccountKey | undefined): boolean {
  return own !== undefined && accountText(own) === accountText(account)
}
