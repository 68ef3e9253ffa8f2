import type { ServerResponse } from 'node:http'
import type { Cluster } from '../../src/cli/cluster/ask-cluster.ts'
import { ExplainedClient } from '../../src/cli/cluster/explained-client.ts'
import type { StatedResource } from '../../src/cli/cluster/resource-state.ts'
import { terminalOf } from '../../src/cli/terminal/terminal.ts'
import { clusterViews } from '../../src/cli/ui/cluster-views.ts'
import type { Connections } from '../../src/cli/ui/history.ts'
import { LiveResources } from '../../src/cli/ui/live-resources.ts'
import { type PageServer, servePage } from '../../src/cli/ui/server.ts'
import { kinds } from '../../src/kinds/index.ts'
import { createKubeClient } from '../../src/kube/client.ts'
import { KindsRegistry, resourceTypeOf } from '../../src/managed/kinds-registry.ts'
import { systemClock } from '../../src/util/clock.ts'
import { systemRandom } from '../../src/util/random.ts'
import { CapturedText } from './captured-text.ts'
import {
  type FakeKubeServer,
  openWatch,
  type SeenRequest,
  sendFrame,
  sendJson,
  sendList,
  sendStatus,
  startFakeKubeServer,
} from './fake-kube-server.ts'

/** The page of `culvert ui` over an API server that holds what a test gives it. */
export class PageCluster implements AsyncDisposable {
  readonly kube: FakeKubeServer
  /** What lists of other types return, by plural. */
  readonly others = new Map<string, readonly unknown[]>()
  readonly #plurals = new Map(kinds.map((each) => [each.definition.kind, resourceTypeOf(each).plural]))
  readonly #resources = new Map<string, Map<string, StatedResource>>()
  readonly #watches = new Map<string, ServerResponse[]>()
  readonly #forbidden = new Set<string>()
  readonly #stop = new AbortController()
  readonly #closing = new AsyncDisposableStack()
  #version = 1

  private constructor(kube: FakeKubeServer) {
    this.kube = kube
    kube.handle((request, response) => this.#answer(request, response))
  }

  static async open(
    resources: readonly StatedResource[] = [],
    forbidden: readonly string[] = [],
  ): Promise<PageCluster> {
    const opened = new PageCluster(await startFakeKubeServer())
    for (const kind of forbidden) opened.#forbidden.add(opened.#pluralOf(kind))
    for (const resource of resources) opened.apply(resource)
    return opened
  }

  /** Stores a resource, and sends it to those who watch. */
  apply(resource: StatedResource): void {
    this.#version += 1
    const plural = this.#pluralOf(resource.kind)
    const stored = this.#resources.get(plural) ?? new Map<string, StatedResource>()
    const metadata = { ...resource.metadata, resourceVersion: String(this.#version) }
    const key = `${metadata.namespace}/${metadata.name}`
    const type = stored.has(key) ? 'MODIFIED' : 'ADDED'
    this.#resources.set(plural, stored.set(key, { ...resource, metadata }))
    for (const watch of this.#watches.get(plural) ?? []) sendFrame(watch, type, stored.get(key))
  }

  /** Serves the page, as `culvert ui` does. */
  async serve(namespace?: string, connections?: Connections): Promise<PageServer> {
    const client = createKubeClient({ connection: this.kube.connection, clock: systemClock, random: systemRandom })
    this.#closing.defer(() => client.close())
    const terminal = terminalOf(new CapturedText({ columns: 100 }))
    const registry = new KindsRegistry(kinds)
    const cluster: Cluster = {
      kube: new ExplainedClient(client, this.kube.url),
      impersonate: () => client,
      kinds: registry,
      namespace: namespace ?? 'web',
      scope: { kinds, namespace: namespace ?? 'web' },
      clock: systemClock,
      out: terminal,
      err: terminal,
    }
    const live = await LiveResources.open(cluster, namespace === undefined ? [] : [namespace], this.#stop.signal)
    const views = clusterViews(live, { flags: { release: 'culvert' }, title: 'all namespaces', connections })
    return this.#closing.use(await servePage(views, () => systemRandom.hex(32)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#closing.disposeAsync()
    await this.kube[Symbol.asyncDispose]()
  }

  #pluralOf(kind: string): string {
    const plural = this.#plurals.get(kind)
    if (plural === undefined) throw new Error(`${kind} is not a kind of Culvert`)
    return plural
  }

  #answer({ method, path, query }: SeenRequest, response: ServerResponse): void {
    const [, namespace, plural = '', name] =
      /\/v1(?:alpha1)?(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? []
    const stored = this.#resources.get(plural) ?? new Map<string, StatedResource>()
    if (method !== 'GET') sendStatus(response, 405, 'MethodNotAllowed', 'the page reads only')
    else if (path === '/apis/culvert.dev/v1alpha1') {
      sendJson(response, 200, {
        kind: 'APIResourceList',
        resources: [...this.#plurals.values()].map((each) => ({ name: each })),
      })
    } else if (this.#forbidden.has(plural)) {
      sendStatus(response, 403, 'Forbidden', `${plural} is forbidden: User "u" cannot list resource "${plural}"`)
    } else if (query.has('watch')) {
      openWatch(response)
      this.#watches.set(plural, [...(this.#watches.get(plural) ?? []), response])
    } else if (name === undefined) {
      const isHere = (item: unknown): boolean => {
        return namespace === undefined || (item as StatedResource).metadata.namespace === namespace
      }
      const items = this.others.get(plural) ?? [...stored.values()]
      sendList(response, String(this.#version), items.filter(isHere))
    } else {
      const others = this.others.get(plural) as readonly StatedResource[] | undefined
      const found = stored.get(`${namespace}/${name}`) ?? others?.find(({ metadata }) => metadata.name === name)
      if (found === undefined) sendStatus(response, 404, 'NotFound', 'not found')
      else sendJson(response, 200, found)
    }
  }
}

/** No API answers there. */
const NOWHERE = 'http://127.0.0.1:9'
const SINCE = '2026-11-24T09:00:00Z'

/** A resource that works; `status` as the operator would write it. */
export function working(
  kind: string,
  name: string,
  fields: { spec?: object; status?: object; namespace?: string } = {},
): StatedResource {
  const { spec = {}, status = {}, namespace = 'web' } = fields
  const condition = { reason: 'Available', message: 'it works', lastTransitionTime: SINCE, observedGeneration: 1 }
  const conditions = ['Ready', 'Synced'].map((type) => ({ type, status: 'True', ...condition }))
  const metadata = { namespace, name, uid: `${kind}-${namespace}-${name}`, resourceVersion: '1', generation: 1 }
  return {
    apiVersion: 'culvert.dev/v1alpha1',
    kind,
    metadata: { ...metadata, creationTimestamp: SINCE, finalizers: ['culvert.dev/finalizer'] },
    spec,
    status: { id: `id-${name}`, observedGeneration: 1, conditions, ...status },
  } as StatedResource
}

/** An edge with a backend, a policy and tunnels, and everything that these need. */
export function shop(namespace = 'web', name = 'shop', tunnels = 2): readonly StatedResource[] {
  const accountRef = { kind: 'Account', name: 'default' }
  const without = (type: string) => ({
    type,
    status: 'False',
    reason: 'NoTunnels',
    message: 'no tunnel with these labels is online: start an agent',
    lastTransitionTime: SINCE,
  })
  const withSide = (resource: StatedResource, type: string): StatedResource => {
    const conditions = [...(resource.status?.conditions ?? []), ...(tunnels === 0 ? [without(type)] : [])]
    return { ...resource, status: { ...resource.status, conditions } } as StatedResource
  }
  const group = working('Backend', name, {
    namespace,
    spec: { type: 'TunnelGroup', tunnelGroup: { labels: { app: name } } },
    status: { accountRef, tunnelCount: tunnels },
  })
  return [
    working('Account', 'default', { namespace, spec: { baseURL: NOWHERE, apiKeySecretRef: { name: 'key' } } }),
    withSide(group, 'TunnelsOnline'),
    working('IPPolicy', name, {
      namespace,
      spec: { rules: [{ cidr: '198.51.100.0/24', action: 'Allow' }] },
      status: { accountRef, ruleCount: 1, rules: [{ id: `rule-${name}`, cidr: '198.51.100.0/24', action: 'allow' }] },
    }),
    withSide(
      working('Edge', name, {
        namespace,
        spec: {
          protocol: 'TCP',
          hostports: [{ type: 'Host', host: `${name}.tunnel.example`, port: 443 }],
          backend: { name },
          ipRestriction: { ipPolicyRefs: [{ name }] },
        },
        status: {
          accountRef,
          access: 'Restricted',
          hostports: [`${name}.tunnel.example:443`],
          modules: {
            backend: { enabled: true, backendID: `id-${name}` },
            ipRestriction: { enabled: true, ipPolicyIDs: [`id-${name}`] },
          },
        },
      }),
      'Serving',
    ),
  ]
}
