import type { KubeObject, ObjectKey } from '../kube/types.ts'
import { OwnedObjects } from '../managed/composed/owned-objects.ts'
import { serviceType } from '../managed/services/service.ts'
import { ServiceReconciler } from '../managed/services/service-reconciler.ts'
import { subscribePolicies, subscribeServices } from '../managed/services/service-wakeups.ts'
import { TunnelReconciler } from '../managed/tunnels/tunnel-reconciler.ts'
import { Controller } from '../runtime/controller.ts'
import type { ObjectSource } from '../runtime/object-source.ts'
import { tracedReconcile } from '../runtime/reconcile-spans.ts'
import type { Division } from './claims/division.ts'
import { base, type Live, type ReconcilersOptions, tracing, WAITING } from './controller-parts.ts'

/** Nothing waits for the API here, but for the credentials of Tunnels, whose changes wake them. */
export function tunnelController(parts: ReconcilersOptions, { gate, owners }: Division, { events }: Live): Controller {
  const {
    kinds,
    store,
    watches: { composed, workloads },
    kube,
    clock,
    options,
  } = parts
  const objects = new OwnedObjects({
    kube,
    readOwner: ({ kind, metadata }) => kube.get(kinds.resourceType(kind), metadata),
    clock,
    known: ({ kind }, key) => workloads.get(kind)?.store.get(key) ?? store.get({ kind, ...key }),
    // What its own watch reports wakes the reconciler of a credential.
    record: (object) => workloads.get(object.kind)?.record(object),
  })
  for (const tunnels of composed.values()) forgetDeleted(objects, tunnels)
  const reconciler = new TunnelReconciler({
    kinds,
    resources: {
      get: (name) => store.get(name),
      account: (key) => store.account(key),
      tunnel: (name) => composed.get(name.kind)?.store.get(name),
      record: (object) => store.record(object),
    },
    objects,
    policy: options.tunnels,
    kube,
    events,
    clock,
  })
  return new Controller({
    ...base(parts),
    ...WAITING,
    workers: 4,
    reconcile: gate.guard(
      owners.tunnel,
      tracedReconcile(tracing(parts), (key) => reconciler.reconcile(key)),
    ),
  })
}

/** Services, which wait for what they own; undefined if none are served. */
export function serviceController(
  parts: ReconcilersOptions,
  { gate, owners, parts: owned }: Division,
  { events }: Live,
): Controller | undefined {
  const { kinds, watches, store, kube, clock } = parts
  const { services, managed, composed } = watches
  const policy = parts.options.services
  if (services === undefined || policy === undefined || owned === undefined) return undefined
  const objects = new OwnedObjects({
    kube,
    readOwner: ({ metadata }) => kube.get(serviceType, metadata),
    clock,
    known: ({ kind }, key) => (managed.get(kind) ?? composed.get(kind))?.store.get(key),
    // What their own watches report wakes the reconcilers of these objects.
    record: () => undefined,
  })
  forgetDeleted(objects, services)
  const reconciler = new ServiceReconciler({
    kinds,
    resources: store,
    policy,
    known: (key) => services.store.get(key),
    record: (service) => services.record(service),
    parts: owned,
    objects,
    kube,
    events,
    clock,
  })
  const controller = new Controller({
    ...base(parts),
    ...WAITING,
    workers: 4,
    reconcile: gate.guard(
      owners.service,
      tracedReconcile(tracing(parts), (key) => reconciler.reconcile(key)),
    ),
  })
  const { kind } = serviceType
  const wake = ({ namespace, name }: ObjectKey): void => controller.enqueue({ kind, namespace, name })
  subscribeServices(services, { parts: owned, policy }, wake)
  subscribePolicies(services, { kinds, store, managed }, wake)
  return controller
}

function forgetDeleted(objects: OwnedObjects, owners: Pick<ObjectSource<KubeObject>, 'subscribe'>): void {
  owners.subscribe(({ type, object }) => {
    if (type === 'deleted') objects.forget(object)
  })
}
