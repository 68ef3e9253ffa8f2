import type { ClosableApiClient } from '../../src/api/client.ts'
import type { KubeClient, KubeObject } from '../../src/kube/types.ts'
import { AccountReconciler } from '../../src/managed/accounts/account-reconciler.ts'
import type { AccountKey } from '../../src/managed/accounts/account-resource.ts'
import { KeptKeys } from '../../src/managed/accounts/kept-key.ts'
import { KeysInUse } from '../../src/managed/accounts/keys-in-use.ts'
import { AccountRegistry } from '../../src/managed/accounts/registry.ts'
import { countHeld } from '../../src/managed/accounts/resync.ts'
import { LiveSession, type SessionConfig } from '../../src/managed/accounts/session.ts'
import { isDeleting } from '../../src/managed/cr.ts'
import { Fingerprints } from '../../src/managed/inputs/fingerprints.ts'
import type { KindsRegistry } from '../../src/managed/kinds-registry.ts'
import { CompanionWatches } from '../../src/managed/outputs/companion-watches.ts'
import { LONG_WAIT_MS } from '../../src/managed/reconcile/long-waits.ts'
import { Memories } from '../../src/managed/reconcile/memory.ts'
import { ManagedReconciler } from '../../src/managed/reconcile/reconciler.ts'
import { objectKeys } from '../../src/managed/store/object-keys.ts'
import { ResourceStore } from '../../src/managed/store/resource-store.ts'
import { subscribeWakeups } from '../../src/managed/store/wakeups.ts'
import { allWatches, createWatches } from '../../src/operator/watches.ts'
import { Controller } from '../../src/runtime/controller.ts'
import type { Random } from '../../src/util/random.ts'
import type { FakeClock } from './fake-clock.ts'
import { createSilentLogger } from './silent-logger.ts'

export const OPERATOR_NAMESPACE = 'culvert-system'
export const INSTALLATION = 'installation-1'
/** With a constant salt, so that a story replays exactly. */
const FINGERPRINTS = new Fingerprints(Buffer.alloc(32, 1))

/**
 * Longest life of a request, pause between two lists, and lag of reads that a model's operator assumes. Milliseconds.
 */
export const times = { requestTimeoutMs: 1000, scanPauseMs: 500, readLagMs: 60_000 } as const

export interface ModelOperatorOptions {
  readonly kinds: KindsRegistry
  readonly kube: KubeClient
  readonly openApi: (config: SessionConfig) => ClosableApiClient
  readonly clock: FakeClock
  readonly random: Random
  readonly onEvent: (about: KubeObject, reason: string) => void
}

/** The operator's own modules, wired as in its process, over clients of models. Stops when `signal` is aborted. */
export function startModelOperator(
  options: ModelOperatorOptions,
  signal: AbortSignal,
): ReturnType<typeof createSilentLogger> {
  const { kinds, kube, openApi, clock, random } = options
  const logger = createSilentLogger()
  const base = { client: kube, clock, random, logger }
  const watches = createWatches(kinds, base, { namespaces: [], tunnels: false })
  const store = new ResourceStore(kinds, watches)
  const memories = new Memories()
  const registry = new AccountRegistry(store, kinds, clock)
  store.learnAddressesFrom((account, id) => registry.shownAt(account, id))
  const keptKeys = new KeptKeys(kube, OPERATOR_NAMESPACE)
  const shared = {
    kinds,
    resources: store,
    kube,
    installation: INSTALLATION,
    fingerprints: FINGERPRINTS,
    clock,
    random,
    logger,
    memories,
    events: {
      record: (about: KubeObject, { reason }: { readonly reason: string }) => options.onEvent(about, reason),
    },
    metrics: { drift: () => undefined, orphans: () => undefined, forget: () => undefined },
  }
  const leadingSince = clock.monotonic()
  const companions = new CompanionWatches({
    base,
    kinds,
    policy: { enabled: true, domains: ['*.com', '*.example'] },
    wake: (name) => controller.enqueue(name, 'edit'),
  })
  companions.start(signal)
  const managed = new ManagedReconciler({
    ...shared,
    accounts: registry,
    keyDependents: new KeysInUse(keptKeys, store, FINGERPRINTS),
    companions,
    leadership: { leadingSince: () => leadingSince },
    times,
  })
  const workers = { clock, random, logger, workers: 4 }
  const controller = new Controller({
    ...workers,
    reconcile: (key) => managed.reconcile(key),
    longWaits: { afterMs: LONG_WAIT_MS, tell: (key) => managed.tellWait(key) },
  })
  const accounts = new AccountReconciler({
    ...shared,
    registry,
    keptKeys,
    baseURLPolicy: { allowedHosts: ['api.example.com', 'other.example.com'] },
    operatorNamespace: OPERATOR_NAMESPACE,
    mirrorConditions: () => undefined,
    openSession: (key, config) => {
      const held = (id: string): boolean => {
        const holder = store.holderOf(key, id)
        return holder !== undefined && !isDeleting(holder)
      }
      return new LiveSession({
        key,
        config,
        client: openApi(config),
        clock,
        fingerprints: FINGERPRINTS,
        keysOf: objectKeys(kinds),
        knownObjects: (counts) => countHeld(kinds, store.membersOf(key), counts),
        isHeld: held,
        recheck: () => accountController.enqueue(key, 'poll'),
      })
    },
    wake: (name, priority) => controller.enqueue(name, priority),
    wakePatiently: (name) => controller.enqueuePatiently(name, 'drift'),
  })
  const accountController = new Controller({
    ...workers,
    reconcile: ({ kind, ...key }) =>
      accounts.reconcile({ ...key, kind: kind === 'Account' ? 'Account' : 'ClusterAccount' }),
  })
  void run()
  return logger

  async function run(): Promise<void> {
    const reflectors = allWatches(watches)
    for (const reflector of reflectors) void reflector.start(signal)
    await Promise.all(reflectors.map(({ synced }) => synced))
    subscribeWakeups({
      kinds,
      store,
      watches,
      memories,
      operatorNamespace: OPERATOR_NAMESPACE,
      wake: {
        managed: controller.enqueue.bind(controller),
        account: (key: AccountKey, priority) => accountController.enqueue(key, priority),
      },
    })
    await Promise.all([controller.run(signal), accountController.run(signal)])
  }
}
