import { join } from 'node:path'
import { until } from '../../cluster/support/wait.ts'
import type { KubernetesNode } from '../node.ts'
import { API_KEY, EMULATOR, NAMESPACE, RELEASE } from './installation.ts'

/** A namespace with a page, which Culvert leads traffic to. */
export const SHOP = 'shop'
/** What the page says. */
const PAGE = 'Hello from a Pod.'
/** A Service in front of the emulator's SSH gateway. */
export const GATEWAY = `gateway.${NAMESPACE}.svc:2222`

/** Arguments of the emulator that make it carry traffic. */
export const GATEWAY_ARGUMENTS = ['--gateway', '--ssh-listen=0.0.0.0:2222', '--edge-address=0.0.0.0'] as const

const gatewayService = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'gateway', namespace: NAMESPACE },
  spec: {
    selector: { 'app.kubernetes.io/component': 'emulator', 'app.kubernetes.io/instance': RELEASE },
    ports: [{ name: 'ssh', port: 2222 }],
  },
}

const PAGE_PROGRAM = `
  const { createServer } = require('node:http')
  const server = createServer((request, response) => response.end(${JSON.stringify(PAGE)})).listen(8080)
  process.on('SIGTERM', () => server.close(() => process.exit()))`

/** Two Pods that serve the page, in a namespace that refuses Pods with rights; the image is Culvert's, for its Node. */
const page = [
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: SHOP, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: SHOP, namespace: SHOP },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: SHOP } },
      template: {
        metadata: { labels: { app: SHOP } },
        spec: {
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'page',
              image: 'localhost/culvert:test',
              imagePullPolicy: 'Never',
              command: ['node', '-e', PAGE_PROGRAM],
              ports: [{ containerPort: 8080 }],
              readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
              // As for any Pod behind a Service: connections go on to arrive until kube-proxy has heard of its end.
              lifecycle: { preStop: { sleep: { seconds: 3 } } },
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
            },
          ],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: SHOP, namespace: SHOP },
    spec: { selector: { app: SHOP }, ports: [{ port: 80, targetPort: 8080 }] },
  },
]

function ofCulvert(kind: string, name: string, spec: object): object {
  return { apiVersion: 'culvert.dev/v1alpha1', kind, metadata: { name, namespace: SHOP }, spec }
}

function resources(hostKey: string): readonly object[] {
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'credentials', namespace: SHOP },
      stringData: { apiKey: API_KEY },
    },
    ofCulvert('Account', 'default', {
      baseURL: EMULATOR,
      apiKeySecretRef: { name: 'credentials' },
      sshGateway: { address: GATEWAY, hostKeys: [hostKey] },
    }),
    ofCulvert('Backend', SHOP, { type: 'TunnelGroup', tunnelGroup: { labels: { app: SHOP } } }),
    ofCulvert('ReservedAddress', SHOP, { region: 'eu' }),
    ofCulvert('Edge', SHOP, {
      protocol: 'TCP',
      hostports: [{ type: 'ReservedAddress', reservedAddressRef: { name: SHOP } }],
      backend: { name: SHOP },
    }),
    ofCulvert('Tunnel', SHOP, { backendRef: { name: SHOP }, service: { name: SHOP, port: 80 }, replicas: 2 }),
  ]
}

/** Applies the page and a Tunnel to it, and waits until its agents are connected. */
export async function openShop(node: KubernetesNode): Promise<void> {
  await apply(node, [gatewayService, ...page])
  const logs = await node.kubectlOutput(['-n', NAMESPACE, 'logs', `deployment/${RELEASE}-emulator`])
  const [, hostKey = ''] = /with the host key (ssh-\S+ \S+)/.exec(logs) ?? []
  await apply(node, resources(hostKey))
  await untilConnected(node)
}

async function apply(node: KubernetesNode, items: readonly object[]): Promise<void> {
  const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  await node.kubectlOutput(['apply', '--server-side', '-f', '-'], { stdin })
}

/** Waits until the Tunnel has all its agents, with the key that it should have. */
export async function untilConnected(node: KubernetesNode): Promise<void> {
  const wait = ['wait', 'tunnel/shop', '-n', SHOP, '--timeout=120s']
  await node.kubectlOutput([...wait, '--for=condition=Connected', '--for=condition=Ready'])
}

/** The address of the edge, as the node reaches it: the emulator's Pod listens for it. */
export async function addressOfEdge(node: KubernetesNode): Promise<string> {
  const hostport = ['get', 'reservedaddress/shop', '-n', SHOP, '-o', 'jsonpath={.status.addr}']
  const [port = ''] = (await node.kubectlOutput(hostport)).split(':').slice(-1)
  return `http://${await emulatorAddress(node)}:${port}/`
}

/** Address of the emulator's Pod. */
async function emulatorAddress(node: KubernetesNode): Promise<string> {
  const pods = ['get', 'pods', '-n', NAMESPACE, '-l', 'app.kubernetes.io/component=emulator']
  return await node.kubectlOutput([...pods, '-o', 'jsonpath={.items[0].status.podIP}'])
}

/** Exposes the page by kubectl alone, as a Service of type LoadBalancer, and waits until that is ready. */
export async function exposeShop(node: KubernetesNode, name: string): Promise<void> {
  const overrides = JSON.stringify({ apiVersion: 'v1', spec: { loadBalancerClass: 'culvert.dev/edge' } })
  const ports = ['--port=80', '--target-port=8080', '--type=LoadBalancer', `--overrides=${overrides}`]
  await node.kubectlOutput(['-n', SHOP, 'expose', 'deployment', SHOP, `--name=${name}`, ...ports])
  const wait = ['-n', SHOP, 'wait', `service/${name}`, '--timeout=120s']
  await node.kubectlOutput([...wait, '--for=condition=culvert.dev/ready'])
}

/** Where the status of a Service says that it is reached. */
export interface Reached {
  readonly url: string
  /** For curl: instead of DNS, which has no record of the emulator's hosts. */
  readonly resolve: string
}

/** Host and port of the first ingress of a Service, as they are. */
export async function reachedAt(node: KubernetesNode, name: string): Promise<Reached> {
  const ingress = '.status.loadBalancer.ingress[0]'
  const jsonpath = `jsonpath={${ingress}.hostname}:{${ingress}.ports[0].port}`
  const place = await node.kubectlOutput(['-n', SHOP, 'get', `service/${name}`, '-o', jsonpath])
  return { url: `http://${place}/`, resolve: `${place}:${await emulatorAddress(node)}` }
}

/** Collections of the API in which a Service has an object for each port. */
const COLLECTIONS = ['edges/tcp', 'reserved_addrs', 'backends/tunnel_group', 'ssh_credentials'] as const

/** The collections of the API with an object that carries the name. */
export async function collectionsNaming(node: KubernetesNode, name: string): Promise<readonly string[]> {
  const address = await emulatorAddress(node)
  const headers = ['--header', `Authorization: Bearer ${API_KEY}`, '--header', 'Service-Version: 2']
  const found = []
  for (const collection of COLLECTIONS) {
    const url = `http://${address}:4040/${collection}`
    const list = await node.namespace.output('curl', ['--silent', '--show-error', '--fail', ...headers, url])
    if (list.includes(name)) found.push(collection)
  }
  return found
}

/** A client that asks for a page again and again, each time by a connection of its own. */
export class Visitor implements AsyncDisposable {
  readonly #stopFile: string
  readonly #run: Promise<string>
  readonly #node: KubernetesNode

  private constructor(node: KubernetesNode, stopFile: string, run: Promise<string>) {
    this.#node = node
    this.#stopFile = stopFile
    this.#run = run
  }

  static start(node: KubernetesNode, url: string): Visitor {
    const stopFile = join(node.folder.path, `stop-${Date.now()}`)
    const ask = `curl --silent --max-time 10 --output /dev/null --write-out '%{http_code} ' '${url}'`
    const script = `while [ ! -e '${stopFile}' ]; do ${ask} || true; done`
    return new Visitor(node, stopFile, node.namespace.output('sh', ['-c', script]))
  }

  /** Ends the visits. @returns the status of each answer; 000: none */
  async end(): Promise<readonly string[]> {
    await this.#node.namespace.output('touch', [this.#stopFile])
    return (await this.#run).trim().split(' ')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end()
  }
}

/** Resolves once the page exists. */
export async function untilAnswered(node: KubernetesNode, url: string, resolve?: string): Promise<void> {
  const more = resolve === undefined ? [] : ['--resolve', resolve]
  const ask = () => node.namespace.run('curl', ['--silent', '--max-time', '5', ...more, url])
  await until('the page arrives', async () => (await ask()).stdout === PAGE, { timeoutMs: 60_000, describe: ask })
}
