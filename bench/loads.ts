import type { Manifest } from './cluster.ts'

/** A call to the API that creates an object. `{n}` in its fields is the id of the answer to the nth call before it. */
export interface Create {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** The manifest that the object is for; undefined for a part without a resource of its own. */
  readonly manifest?: number
  /** Numbers of the calls whose ids it needs. Default: none, so that it can be sent at once. */
  readonly needs?: readonly number[]
}

/** A load: groups of resources, all of which exist when the operator starts. */
export interface Load {
  readonly name: string
  /** The resources of one group. */
  manifests(group: number): readonly Manifest[]
  /** The calls without which the group cannot be Ready. */
  creates(group: number): readonly Create[]
}

const CIDRS = ['10.0.0.0/8', '11.0.0.0/8', '12.0.0.0/8']

/** Resources that need nothing else. */
export const backends: Load = {
  name: 'Backends',
  manifests: (group) => [
    { kind: 'Backend', name: `shop-${group}`, spec: { type: 'TunnelGroup', tunnelGroup: { labels: labelsOf(group) } } },
  ],
  creates: (group) => [{ path: '/backends/tunnel_group', body: { labels: labelsOf(group) }, manifest: 0 }],
}

/** Resources with parts. */
export const policies: Load = {
  name: 'IPPolicies of 3 rules',
  manifests: (group) => [
    { kind: 'IPPolicy', name: `office-${group}`, spec: { rules: CIDRS.map((cidr) => ({ cidr, action: 'Allow' })) } },
  ],
  creates: () => [
    { path: '/ip_policies', body: {}, manifest: 0 },
    ...CIDRS.map((cidr) => {
      return { path: '/ip_policy_rules', body: { ip_policy_id: '{0}', cidr, action: 'allow' }, needs: [0] }
    }),
  ],
}

/** Resources that wait for others. */
export const edges: Load = {
  name: 'Edges with Backend and address',
  manifests: (group) => [
    { kind: 'ReservedAddress', name: `shop-${group}`, spec: {} },
    ...backends.manifests(group),
    {
      kind: 'Edge',
      name: `shop-${group}`,
      spec: {
        protocol: 'TCP',
        hostports: [{ type: 'ReservedAddress', reservedAddressRef: { name: `shop-${group}` } }],
        backend: { name: `shop-${group}` },
      },
    },
  ],
  creates: (group) => [
    { path: '/reserved_addrs', body: {}, manifest: 0 },
    { path: '/backends/tunnel_group', body: { labels: labelsOf(group) }, manifest: 1 },
    {
      path: '/edges/tcp',
      body: { hostports: ['{0.addr}'], backend: { backend_id: '{1}' } },
      manifest: 2,
      needs: [0, 1],
    },
  ],
}

/** By name, for the bare client. */
export const loads: readonly Load[] = [backends, policies, edges]

function labelsOf(group: number): Readonly<Record<string, string>> {
  return { app: `shop-${group}` }
}
