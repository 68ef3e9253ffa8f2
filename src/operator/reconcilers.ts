import { keyOfAccount } from '../managed/account-resource.ts'
import { KeptKeys } from '../managed/accounts/kept-key.ts'
import { sweepKeptKeys } from '../managed/accounts/kept-key-sweep.ts'
import { holdName, NamespaceHolds } from '../managed/accounts/namespace-hold.ts'
import { AccountRegistry } from '../managed/accounts/registry.ts'
import { heldUpIn } from '../managed/delete/delete-memory.ts'
import type { EventSink } from '../managed/run/context.ts'
import { Memories } from '../managed/run/memory.ts'
import { serviceType } from '../managed/services/service.ts'
import { MirrorReports } from '../managed/sessions/mirror-report.ts'
import { subscribeWakeups, type Wakeups, wakeExisting } from '../managed/store/wakeups.ts'
import { subscribeTunnels } from '../managed/tunnels/tunnel-wakeups.ts'
import { Controller } from '../runtime/controller.ts'
import { EventRecorder } from '../runtime/events.ts'
import { AccountControl } from './account-control.ts'
import type { ClaimHooks } from './claims/account-claims.ts'
import { openDivision } from './claims/division.ts'
import { type Core, type ReconcilersOptions, STOP_MS } from './controller-parts.ts'
import { ManagedControl } from './managed-control.ts'
import { SessionControl } from './session-control.ts'
import { credentialStates, stateSources } from './states.ts'
import { serviceController, tunnelController } from './traffic-controllers.ts'

/** What runs while this process leads. */
export interface Reconcilers {
  /** Runs until `signal` is aborted; resolves when the work in flight has ended. */
  run(signal: AbortSignal): Promise<void>
}

/** How long a stop then waits for Events that are still to be sent. */
const EVENTS_MS = 1_000

/**
 * Connects the reconcilers with the watches that wake them and with the clients that they call: the core first, then
 * the features above it, each with what was made before.
 */
export function createReconcilers(parts: ReconcilersOptions): Reconcilers {
  const { options, kinds, watches, store, metrics } = parts
  const recorder = eventRecorder(parts)
  const core = openCore(parts, recorder)
  const { context, registry, keptKeys, holds } = core
  const { memories } = context
  metrics.watchHeldUp(() => heldUpIn(memories))
  const division = openDivision(parts)
  const { claims, gate, owners } = division
  store.setAddressLookup((account, id) => registry.shownAt(account, id))
  const managed = new ManagedControl(parts, division, core)
  const mirrorReports = new MirrorReports()
  const accounts = new AccountControl(parts, division, { core, managed, mirrorReports })
  const wake: Wakeups = {
    managed: (cr, priority) => managed.wake(cr, priority),
    account: (account, priority) => accounts.wake(account, priority),
  }
  metrics.watchStates(stateSources(watches, accounts.budgets, (account) => claims.isOpen(account)))
  metrics.watchCredentials(
    credentialStates(kinds, watches.managed, (name) => {
      const cr = store.get(name)
      const account = cr && store.accountKeyOf(cr)
      return account === undefined || gate.isOpen(account)
    }),
  )
  subscribeWakeups({ kinds, store, watches, memories, operatorNamespace: options.namespace, wake })
  const stop = new AbortController()
  const sessions = new SessionControl(parts, division, { core, accounts, mirrorReports, stop: stop.signal })
  const live = { registry, events: context.events }
  const tunnels = tunnelController(parts, division, live)
  subscribeTunnels(kinds, store.ownWrites, watches, {
    tunnel: (name) => tunnels.enqueue(name),
    backend: (name) => managed.readAgain(name),
  })
  const services = serviceController(parts, division, live)
  sessions.subscribe()
  gate.add({ ownerOf: owners.managed, sources: watches.managed, enqueue: wake.managed })
  gate.add({ ownerOf: owners.command, sources: watches.commands, enqueue: (key) => sessions.wakeCommand(key) })
  gate.add({ ownerOf: owners.tunnel, sources: watches.composed, enqueue: (key) => tunnels.enqueue(key, 'drift') })
  if (services !== undefined && watches.services !== undefined) {
    const sources = new Map([[serviceType.kind, watches.services]])
    gate.add({ ownerOf: owners.service, sources, enqueue: (key) => services.enqueue(key, 'drift') })
  }
  const hooks: ClaimHooks = {
    wake: (key) => {
      accounts.wake({ ...key }, 'edit')
      sessions.wakeMirrorsOf(key)
      gate.wake(key)
    },
    wakeNamespace: (name) => gate.wakeNamespace(name),
    endSession: (key) => registry.remove(key),
    forget: (account) => {
      const key = keyOfAccount(account)
      accounts.reconciler.leave(account)
      for (const { metadata } of store.membersOf(key)) memories.forget(metadata.uid)
      sessions.leave(key)
    },
  }
  return {
    run: async (signal) => {
      managed.companions.start(signal)
      signal.addEventListener('abort', () => stop.abort(), { once: true })
      if (signal.aborted) stop.abort()
      // An operator of some namespaces does not see the accounts that others serve.
      const isWhole = options.watchNamespaces.length === 0
      const sweep = isWhole && sweepKeptKeys({ ...context, ...keptKeyViews(parts), keptKeys }, stop.signal)
      const held = holds && holdsController(parts, holds).run(signal)
      const claiming = claims.run(signal, hooks)
      const waking = wakeExisting({ watches, wake }, parts.turns)
      const all = [
        managed.controller,
        accounts.controller,
        sessions.mirrors,
        sessions.commands,
        tunnels,
        ...(services === undefined ? [] : [services]),
      ]
      await Promise.all([waking, ...all.map((controller) => controller.run(signal))])
      await Promise.all([sweep, held, claiming])
      await managed.companions.ended()
      await recorder.flush(EVENTS_MS)
      await registry.close()
    },
  }
}

function openCore(parts: ReconcilersOptions, recorder: EventRecorder): Core {
  const { options, installation, fingerprints, kinds, store, kube, clock, random } = parts
  const { logger, namespace } = options
  const events = eventSink(recorder)
  const memories = new Memories()
  return {
    context: { kinds, resources: store, kube, installation, fingerprints, clock, random, logger, events, memories },
    registry: new AccountRegistry(store, kinds, clock),
    keptKeys: new KeptKeys(kube, namespace),
    holds: namespaceHolds(parts),
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

function eventRecorder({ kube, clock, random, options }: ReconcilersOptions): EventRecorder {
  return new EventRecorder({ client: kube, clock, random, logger: options.logger, instance: options.identity })
}

function eventSink(recorder: EventRecorder): EventSink {
  return { record: (about, { type, reason, message }) => recorder.record(about, { type, reason, note: message }) }
}
