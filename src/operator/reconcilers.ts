import type { BudgetShare } from '../api/shared-budgets.ts'
import { AccountReconciler } from '../managed/accounts/account-reconciler.ts'
import { type AccountKey, accountText, keyOfAccount } from '../managed/accounts/account-resource.ts'
import { KeptKeys } from '../managed/accounts/kept-key.ts'
import { sweepKeptKeys } from '../managed/accounts/kept-key-sweep.ts'
import { KeysInUse } from '../managed/accounts/keys-in-use.ts'
import { AccountRegistry } from '../managed/accounts/registry.ts'
import { CommandReconciler } from '../managed/commands/reconciler.ts'
import { CommandStore } from '../managed/commands/store.ts'
import { subscribeCommands } from '../managed/commands/wakeups.ts'
import { holdName, NamespaceHolds } from '../managed/delete/namespace-hold.ts'
import { type MirrorContext, type MirrorMetrics, MirrorReconciler, mirrorKeys } from '../managed/mirrors/reconciler.ts'
import { MirrorReports } from '../managed/mirrors/report.ts'
import { subscribeMirrors } from '../managed/mirrors/wakeups.ts'
import { MirrorWriter } from '../managed/mirrors/writer.ts'
import { CompanionWatches } from '../managed/outputs/companion-watches.ts'
import type { EventSink, ManagedContext } from '../managed/reconcile/context.ts'
import { LONG_WAIT_MS } from '../managed/reconcile/long-waits.ts'
import { Memories } from '../managed/reconcile/memory.ts'
import { priorityOf } from '../managed/reconcile/priority.ts'
import { ManagedReconciler } from '../managed/reconcile/reconciler.ts'
import { serviceType } from '../managed/services/service.ts'
import { objectKeys } from '../managed/store/object-keys.ts'
import type { ResourceStore } from '../managed/store/resource-store.ts'
import { subscribeWakeups, wakeExisting, wakeReleased } from '../managed/store/wakeups.ts'
import { subscribeTunnels } from '../managed/tunnels/wakeups.ts'
import { Controller, type ReconcileKey } from '../runtime/controller.ts'
import { EventRecorder } from '../runtime/events.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { tracedReconcile } from '../runtime/reconcile-spans.ts'
import type { Priority } from '../util/priority.ts'
import type { ClaimHooks } from './claims/account-claims.ts'
import { type Division, openDivision } from './claims/division.ts'
import {
  accountKeyOf,
  base,
  type Live,
  type ReconcilersOptions,
  STOP_MS,
  tracing,
  WAITING,
} from './controller-parts.ts'
import { sessionFactory } from './sessions.ts'
import { credentialStates, stateSources } from './states.ts'
import { serviceController, tunnelController } from './traffic-controllers.ts'

/** What runs while this process leads. */
export interface Reconcilers {
  /** Runs until `signal` is aborted; resolves when the work in flight has ended. */
  run(signal: AbortSignal): Promise<void>
}

/** How long a stop then waits for Events that are still to be sent. */
const EVENTS_MS = 1_000

/** Connects the reconcilers with the watches that wake them and with the clients that they call. */
export function createReconcilers(parts: ReconcilersOptions): Reconcilers {
  const { options, kinds, watches, store, metrics } = parts
  const { namespace } = options
  const recorder = eventRecorder(parts)
  const memories = new Memories()
  metrics.watchHeldUp(() => memories.heldUp())
  const registry = new AccountRegistry(store, kinds, parts.clock)
  const division = openDivision(parts)
  const { claims, gate, owners } = division
  store.learnAddressesFrom((account, id) => registry.shownAt(account, id))
  const shared = { ...sharedContext(parts), events: eventSink(recorder), memories }
  const keptKeys = new KeptKeys(parts.kube, namespace)
  const holds = namespaceHolds(parts)
  const keyDependents = new KeysInUse(keptKeys, store, parts.fingerprints)
  const companions = new CompanionWatches({
    base: watchBase(parts),
    kinds,
    policy: options.dnsEndpoints ?? { enabled: false, domains: [] },
    wake: (name) => wakeManaged(name, 'edit'),
  })
  const mirrorReports = new MirrorReports()
  const budgets = new Map<string, BudgetShare>()
  const managed: Controller = managedController(parts, division, {
    ...shared,
    companions,
    accounts: registry,
    keyDependents,
    holds,
  })
  const wakeManaged = (cr: ReconcileKey, priority: Priority): void =>
    managed.enqueue(cr, priorityOf(store.get(cr), priority))
  const wakeAccount = (account: ReconcileKey, priority: Priority): void => {
    accounts.enqueue(account, priority)
    if (priority === 'edit') void accountReconciler.noticeChange(accountKeyOf(account))
  }
  const wake = { managed: wakeManaged, account: wakeAccount }
  const accountReconciler = new AccountReconciler({
    ...shared,
    registry,
    keptKeys,
    holds,
    metrics: {
      ...driftMetrics(metrics),
      orphans: (account, count) => metrics.setOrphans(account, count),
      forget: (account) => metrics.forgetAccount(account),
    },
    mirrorConditions: (account) => mirrorReports.of(account),
    baseURLPolicy: options.baseURLPolicy,
    operatorNamespace: namespace,
    turns: parts.turns,
    openSession: sessionFactory({
      kinds,
      keysOf: objectKeys(kinds),
      store,
      metrics,
      audit: parts.audit,
      tracer: parts.tracer,
      clock: parts.clock,
      random: parts.random,
      fingerprints: parts.fingerprints,
      proxies: options.proxies,
      openDispatcher: parts.openDispatcher,
      requestTimeoutMs: options.requestTimeoutMs,
      apiRequests: options.apiRequests,
      beforeWrite: (key) => {
        parts.beforeApiWrite()
        claims.assertOurs(key)
      },
      onLostKey: (session, key) => wakeReleased({ kinds, store, wake }, session, key),
      recheck: (key) => wakeAccount(key, 'poll'),
      budgets,
    }),
    wake: (cr, priority) => wakeManaged(cr, priority),
    wakePatiently: (cr) => managed.enqueuePatiently(cr, priorityOf(store.get(cr), 'drift')),
  })
  const accounts = accountController(parts, division, accountReconciler)
  metrics.watchStates(stateSources(watches, budgets, (account) => claims.isOpen(account)))
  metrics.watchCredentials(
    credentialStates(kinds, watches.managed, (name) => {
      const cr = store.get(name)
      const account = cr && store.accountKeyOf(cr)
      return account === undefined || gate.isOpen(account)
    }),
  )
  subscribeWakeups({ kinds, store, watches, memories, operatorNamespace: namespace, wake })
  const stop = new AbortController()
  const live = { registry, events: shared.events }
  const mirror = mirrorReconciler(parts, live, (key, account, conditions) => {
    if (mirrorReports.note(key, account, conditions)) wakeAccount({ ...key }, 'drift')
  })
  const mirrors = mirrorController(parts, division, mirror, stop.signal)
  const commandReconciler = newCommandReconciler(parts, live, mirror)
  const commands = commandController(parts, division, commandReconciler)
  const tunnels = tunnelController(parts, division, live)
  subscribeTunnels(kinds, store.ownWrites, watches, {
    tunnel: (name) => tunnels.enqueue(name),
    backend: (name) => {
      const uid = store.get(name)?.metadata.uid
      if (uid !== undefined) memories.of(uid).poll.readNow(parts.clock.monotonic())
      wakeManaged(name, 'poll')
    },
  })
  const services = serviceController(parts, division, live)
  subscribeMirrors(kinds, watches.accounts, (key) => mirrors.enqueue(key, 'drift'))
  subscribeCommands(store.ownWrites, watches, (name) => commands.enqueue(name))
  gate.add({ ownerOf: owners.managed, sources: watches.managed, enqueue: wakeManaged })
  gate.add({ ownerOf: owners.command, sources: watches.commands, enqueue: (key) => commands.enqueue(key, 'drift') })
  gate.add({ ownerOf: owners.tunnel, sources: watches.composed, enqueue: (key) => tunnels.enqueue(key, 'drift') })
  if (services !== undefined && watches.services !== undefined) {
    const sources = new Map([[serviceType.kind, watches.services]])
    gate.add({ ownerOf: owners.service, sources, enqueue: (key) => services.enqueue(key, 'drift') })
  }
  const hooks: ClaimHooks = {
    wake: (key) => {
      wakeAccount({ ...key }, 'edit')
      for (const shown of mirrorKeys(kinds, key)) mirrors.enqueue(shown, 'drift')
      gate.wake(key)
    },
    wakeNamespace: (name) => gate.wakeNamespace(name),
    endSession: (key) => registry.remove(key),
    forget: (account) => {
      const key = keyOfAccount(account)
      accountReconciler.leave(account)
      mirror.leave(key)
      for (const { metadata } of store.membersOf(key)) memories.forget(metadata.uid)
      for (const { store: all } of watches.commands.values()) {
        for (const command of all.list()) if (isOf(key, store.accountKeyOf(command))) commandReconciler.forget(command)
      }
    },
  }
  return {
    run: async (signal) => {
      companions.start(signal)
      signal.addEventListener('abort', () => stop.abort(), { once: true })
      if (signal.aborted) stop.abort()
      // An operator of some namespaces does not see the accounts that others serve.
      const isWhole = options.watchNamespaces.length === 0
      const sweep = isWhole && sweepKeptKeys({ ...sharedContext(parts), ...keptKeyViews(parts), keptKeys }, stop.signal)
      const held = holds && holdsController(parts, holds).run(signal)
      const claiming = claims.run(signal, hooks)
      const waking = wakeExisting({ watches, wake }, parts.turns)
      const all = [managed, accounts, mirrors, commands, tunnels, ...(services === undefined ? [] : [services])]
      await Promise.all([waking, ...all.map((controller) => controller.run(signal))])
      await Promise.all([sweep, held, claiming])
      await companions.ended()
      await recorder.flush(EVENTS_MS)
      await registry.close()
    },
  }
}

/** Only rights that a RoleBinding grants in a namespace are deleted with it. */
function namespaceHolds({ options, store, kube }: ReconcilersOptions): NamespaceHolds | undefined {
  const { holdNamespaces = false, watchNamespaces, namespace, name, logger } = options
  if (!holdNamespaces || watchNamespaces.length === 0) return undefined
  return new NamespaceHolds({ kube, resources: store, name: holdName(namespace, name), logger })
}

/**
 * Checks each namespace once when this process starts leading, then when an account there changes or a resource is
 * deleted.
 */
function holdsController({ clock, random, options, watches }: ReconcilersOptions, holds: NamespaceHolds): Controller {
  const controller = new Controller({
    clock,
    random,
    logger: options.logger,
    stopMs: STOP_MS,
    workers: 2,
    reconcile: ({ name }) => holds.reconcile(name),
  })
  const check = (name: string | undefined): void => {
    if (name !== undefined) controller.enqueue({ kind: 'Namespace', name })
  }
  for (const namespace of options.watchNamespaces) check(namespace)
  for (const accounts of watches.accounts.values()) {
    accounts.subscribe(({ object }) => check(object.metadata.namespace))
  }
  for (const resources of watches.managed.values()) {
    resources.subscribe(({ type, object }) => check(type === 'deleted' ? object.metadata.namespace : undefined))
  }
  return controller
}

function keptKeyViews({ options, store, watches }: ReconcilersOptions) {
  return {
    known: () => new Set(store.accounts().map(({ metadata }) => metadata.uid)),
    secrets: () => watches.secrets.store.list().filter(({ metadata }) => metadata.namespace === options.namespace),
  }
}

function sharedContext({ options, installation, fingerprints, kinds, store, kube, clock, random }: ReconcilersOptions) {
  return { kinds, resources: store, kube, installation, fingerprints, clock, random, logger: options.logger }
}

function managedController(
  parts: ReconcilersOptions,
  { claims, gate, owners }: Division,
  context: Omit<ManagedContext, 'metrics' | 'leadership' | 'times' | 'inFlight'>,
): Controller {
  const { options, store, metrics, leadingSince } = parts
  const { requestTimeoutMs, scanPauseMs, readLagMs, workers } = options
  const reconciler = new ManagedReconciler({
    ...context,
    metrics: driftMetrics(metrics),
    leadership: {
      leadingSince: (cr) => {
        const account = store.accountKeyOf(cr)
        return account === undefined ? leadingSince : Math.max(leadingSince, claims.soleSince(account))
      },
    },
    times: { requestTimeoutMs, scanPauseMs, readLagMs },
  })
  const controller = new Controller({
    ...base(parts),
    workers,
    reconcile: gate.guard(
      owners.managed,
      tracedReconcile(tracing(parts), (key) => reconciler.reconcile(key)),
    ),
    longWaits: { afterMs: LONG_WAIT_MS, tell: gate.guardTell(owners.managed, (key) => reconciler.tellWait(key)) },
    groupOf: (key) => groupOf(store, key),
    tenantOf,
    queueObserver: metrics.queue,
  })
  const names = [...parts.kinds.managed, ...parts.kinds.accounts].map(({ definition }) => definition.kind)
  metrics.watchController(controller, names)
  return controller
}

function accountController(
  parts: ReconcilersOptions,
  { gate, owners }: Division,
  reconciler: AccountReconciler,
): Controller {
  return new Controller({
    ...base(parts),
    ...WAITING,
    reconcile: gate.guard(
      owners.account,
      tracedReconcile(tracing(parts), (key) => reconciler.reconcile(accountKeyOf(key))),
    ),
    longWaits: {
      afterMs: LONG_WAIT_MS,
      tell: gate.guardTell(owners.account, (key) => reconciler.tellWait(accountKeyOf(key))),
    },
  })
}

function mirrorReconciler(
  parts: ReconcilersOptions,
  { registry, events }: Live,
  report: MirrorContext['report'],
): MirrorReconciler {
  const { kinds, store, kube, clock, random, options } = parts
  const writer = new MirrorWriter({ kube, record: (object) => store.record(object), logger: options.logger })
  const session = registry.get.bind(registry)
  const metrics: MirrorMetrics = {
    leftOut: (account, count) => parts.metrics.setSessionsLeftOut(account, count),
  }
  return new MirrorReconciler({ kinds, resources: store, session, writer, events, report, metrics, clock, random })
}

/**
 * Mirrors have their own workers, so that thousands of writes delay nobody else. `stop` ends them between two writes.
 */
function mirrorController(
  parts: ReconcilersOptions,
  { gate, owners }: Division,
  reconciler: MirrorReconciler,
  stop: AbortSignal,
): Controller {
  return new Controller({
    ...base(parts),
    ...WAITING,
    reconcile: gate.guard(
      owners.mirror,
      tracedReconcile({ ...tracing(parts), verb: 'mirror' }, (key) => reconciler.reconcile(key, stop)),
    ),
  })
}

function newCommandReconciler(
  parts: ReconcilersOptions,
  { registry, events }: Live,
  mirror: MirrorReconciler,
): CommandReconciler {
  const { kinds, store, kube, clock } = parts
  return new CommandReconciler({
    kinds,
    resources: store,
    accounts: registry,
    store: new CommandStore({ kube, record: (object) => store.record(object) }),
    kube,
    events,
    clock,
    isSettled: (kind, account) => mirror.isSettled(kind, account),
  })
}

/** Commands have their own workers: a command occupies its worker for as long as it has requests to send. */
function commandController(
  parts: ReconcilersOptions,
  { gate, owners }: Division,
  reconciler: CommandReconciler,
): Controller {
  return new Controller({
    ...base(parts),
    ...WAITING,
    reconcile: gate.guard(
      owners.command,
      tracedReconcile(tracing(parts), (key) => reconciler.reconcile(key)),
    ),
  })
}

function watchBase({ kube, clock, random, turns, options }: ReconcilersOptions) {
  const { logger, watchSilenceMs, watchNamespaces } = options
  return { client: kube, clock, random, turns, logger, stallMs: watchSilenceMs, namespaces: watchNamespaces }
}

function driftMetrics(metrics: Metrics): ManagedContext['metrics'] {
  return { drift: (kind, field) => metrics.driftFound(kind, [field]) }
}

function eventRecorder({ kube, clock, random, options }: ReconcilersOptions): EventRecorder {
  return new EventRecorder({ client: kube, clock, random, logger: options.logger, instance: options.identity })
}

function eventSink(recorder: EventRecorder): EventSink {
  return { record: (about, { type, reason, message }) => recorder.record(about, { type, reason, note: message }) }
}

/**
 * Work counts against its account, so that a slow account leaves workers to the others, or else against its namespace.
 */
function groupOf(store: ResourceStore, key: ReconcileKey): string {
  const cr = store.get(key)
  const account = cr === undefined ? undefined : store.accountKeyOf(cr)
  return account === undefined ? `/${key.namespace ?? ''}/` : accountText(account)
}

function isOf(account: AccountKey, own: AccountKey | undefined): boolean {
  return own !== undefined && accountText(own) === accountText(account)
}

/** The namespace of an Account; each ClusterAccount is its own tenant. */
function tenantOf(group: string): string {
  return group.split('/')[1] || group
}
