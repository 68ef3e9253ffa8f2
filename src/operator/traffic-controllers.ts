import type { KubeObject, ObjectKey } from '../kube/types.ts'
import { ComposedReconciler } from '../managed/composed/composed-reconciler.ts'
import { OwnedObjects, type OwnedObjectsOptions } from '../managed/composed/owned-objects.ts'
import { composedService } from '../managed/services/composed-service.ts'
import { serviceType } from '../managed/services/service.ts'
import { subscribePolicies, subscribeServices } from '../managed/services/service-wakeups.ts'
import { ComposedTunnel } from '../managed/tunnels/composed-tunnel.ts'
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
  const known: OwnedObjectsOptions['known'] = ({ kind }, key) => {
    return workloads.get(kind)?.store.get(key) ?? store.get({ kind, ...key })
  }
  const objects = new OwnedObjects({
    kube,
    readOwner: ({ kind, metadata }) => kube.get(kinds.resourceType(kind), metadata),
    clock,
    known,
    // What its own watch reports wakes the reconciler of a credential.
    record: (object) => workloads.get(object.kind)?.record(object),
  })
  const tunnel = new ComposedTunnel({
    kinds,
    resources: store,
    tunnels: composed,
    known,
    policy: options.tunnels,
    kube,
    clock,
  })
  for (const tunnels of composed.values()) {
    onDeletion(tunnels, (owner) => {
      objects.forget(owner)
      tunnel.forget(owner)
    })
  }
  const reconciler = new ComposedReconciler(tunnel, { objects, kube, events })
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
  const known: OwnedObjectsOptions['known'] = ({ kind }, key) => {
    return (managed.get(kind) ?? composed.get(kind))?.store.get(key)
  }
  const objects = new OwnedObjects({
    kube,
    readOwner: ({ metadata }) => kube.get(serviceType, metadata),
    clock,
    known,
    // What their own watches report wakes the reconcilers of these objects.
    record: () => undefined,
  })
  onDeletion(services, (owner) => objects.forget(owner))
  const service = composedService({
    kinds,
    resources: store,
    policy,
    services,
    parts: (key) => owned.of(key),
    known,
    clock,
  })
  const reconciler = new ComposedReconciler(service, { objects, kube, events })
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

function onDeletion(owners: Pick<ObjectSource<KubeObject>, 'subscribe'>, forget: (owner: KubeObject) => void): void {
  owners.subscribe(({ type, object }) => {
    if (type === 'deleted') forget(object)
  })
}
