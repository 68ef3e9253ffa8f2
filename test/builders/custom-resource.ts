import type { RemoteObject } from '../../src/api/types.ts'
import type { ObjectMeta } from '../../src/kube/types.ts'
import type { CustomResource } from '../../src/managed/cr.ts'
import { formatMarker, type Marker } from '../../src/managed/markers/marker.ts'

/** A Backend `shop/web` with uid `mine` by default. */
export function cr(
  metadata: Partial<ObjectMeta> = {},
  status: CustomResource['status'] = {},
  spec: Readonly<Record<string, unknown>> = { type: 'TunnelGroup', tunnelGroup: {} },
): CustomResource {
  return {
    apiVersion: 'culvert.dev/v1alpha1',
    kind: 'Backend',
    metadata: { name: 'web', namespace: 'shop', uid: 'mine', resourceVersion: '1', generation: 1, ...metadata },
    spec,
    status,
  }
}

/** An object with the marker of that resource by default. */
export function marked(id: string, marker: Partial<Marker> = {}, fields: Partial<RemoteObject> = {}): RemoteObject {
  const own: Marker = { installation: 'here', kind: 'Backend', namespace: 'shop', name: 'web', uid: 'mine', nonce: 'a' }
  return { ...fields, id, metadata: formatMarker({ ...own, ...marker }) }
}
