import { kinds } from '../../src/kinds/index.ts'
import type { ResourceType } from '../../src/kube/types.ts'
import { KindsRegistry } from '../../src/managed/kinds-registry.ts'
import { SessionStore } from '../../src/managed/sessions/session-store.ts'
import { ResourceStore } from '../../src/managed/store/resource-store.ts'
import type { Watches } from '../../src/operator/watches.ts'
import { allWatches, createWatches } from '../../src/operator/watches.ts'
import { KubeProcess } from '../faults/simulation/kube-client.ts'
import type { VirtualTime } from '../faults/simulation/virtual-time.ts'
import type { ModelKube } from './model-kube.ts'
import { createSilentLogger } from './silent-logger.ts'

export const registry = new KindsRegistry(kinds)

/** Specs of an Account, and of a Backend that needs nothing else. */
export const account = { baseURL: 'https://api.example.com', apiKeySecretRef: { name: 'key' } }
export const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }

/** The type of one of our kinds. */
export function typeOf(kind: string): ResourceType {
  return registry.resourceType(kind)
}

/** The watches of a model cluster, and the store over them, which knows all of its objects. */
export async function watchedStore(
  kube: ModelKube,
  time: VirtualTime,
): Promise<{ readonly store: ResourceStore; readonly sessions: SessionStore; readonly watches: Watches }> {
  const { client, clock } = new KubeProcess(kube, time)
  const base = { client, clock, random: { next: () => 0.5, hex: () => '' }, logger: createSilentLogger() }
  const watches = createWatches(registry, base, { namespaces: [], tunnels: true, services: true })
  const store = new ResourceStore(registry, watches)
  const sessions = new SessionStore(registry, watches, store)
  for (const watch of allWatches(watches)) void watch.start(new AbortController().signal)
  await time.advance(100)
  return { store, sessions, watches }
}
