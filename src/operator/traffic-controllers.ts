import type { KubeObject, ObjectKey, ResourceType } from '../kube/types.ts'
import { type ComposedContext, ComposedReconciler } from '../managed/composed/composed-reconciler.ts'
import type { ComposedKind, Composition } from '../managed/composed/composition.ts'
import { composedService } from '../managed/services/composed-service.ts'
import { serviceType } from '../managed/services/service.ts'
import { subscribePolicies, subscribeServices } from '../managed/services/service-wakeups.ts'
import { ComposedTunnel } from '../managed/tunnels/composed-tunnel.ts'
import { Controller } from '../runtime/controller.ts'
import type { ObjectSource } from '../runtime/object-source.ts'
import { tracedReconcile } from '../runtime/reconcile-spans.ts'
import type { Division } from './claims/division.ts'
import type { OwnerOf } from './claims/owners.ts'
import { base, type Live, type ReconcilersOptions, tracing, WAITING } from './controller-parts.ts'

/** Nothing waits for the API here, but for the credentials of Tunnels, whose changes wake them. */
export function tunnelController(parts: ReconcilersOptions, { gate, owners }: Division, { events }: Live): Controller {
  const { kinds, store, kube, clock } = parts
  const { composed: tunnels, workloads } = parts.watches
  const known = ({ kind }: ResourceType, key: ObjectKey): KubeObject | undefined => {
    return workloads.get(kind)?.store.get(key) ?? store.get({ kind, ...key })
  }
  // What its own watch reports wakes the reconciler of a credential.
  const record = (part: KubeObject): void => workloads.get(part.kind)?.record(part)
  const { tunnels: policy } = parts.options
  const kind = new ComposedTunnel({ kinds, resources: store, tunnels, known, policy, kube, clock })
  return composedController(kind, { kube, clock, events, known, record }, [...tunnels.values()], {
    parts,
    gate,
    ownerOf: owners.tunnel,
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
  const known = ({ kind }: ResourceType, key: ObjectKey): KubeObject | undefined => {
    return (managed.get(kind) ?? composed.get(kind))?.store.get(key)
  }
  // What their own watches report wakes the reconcilers of these objects.
  const record = (): void => undefined
  const kind = composedService({ kinds, resources: store, policy, services, parts: owned, known, clock })
  const controller = composedController(kind, { kube, clock, events, known, record }, [services], {
    parts,
    gate,
    ownerOf: owners.service,
  })
  const wake = ({ namespace, name }: ObjectKey): void => {
    controller.enqueue({ kind: serviceType.kind, namespace, name })
  }
  subscribeServices(services, { parts: owned, policy }, wake)
  subscribePolicies(services, { kinds, store, managed }, wake)
  return controller
}

function composedController<Owner extends KubeObject, Plan extends Composition>(
  kind: ComposedKind<Owner, Plan>,
  context: ComposedContext,
  sources: readonly Pick<ObjectSource<KubeObject>, 'subscribe'>[],
  { parts, gate, ownerOf }: Pick<Division, 'gate'> & { readonly parts: ReconcilersOptions; readonly ownerOf: OwnerOf },
): Controller {
  const reconciler = new ComposedReconciler(kind, context)
  for (const owners of sources) {
    owners.subscribe(({ type, object }) => {
      if (type === 'deleted') reconciler.forget(object)
    })
  }
  const reconcile = tracedReconcile(tracing(parts), (key) => reconciler.reconcile(key))
  return new Controller({ ...base(parts), ...WAITING, workers: 4, reconcile: gate.guard(ownerOf, reconcile) })
}
