import { globSync } from 'node:fs'
import { chmod, chown, copyFile, mkdtemp, readFile, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { ControlPlane } from '../../controlplane/control-plane.ts'
import { aimAtEmulator, customResources, readManifests, toYaml } from '../../src/cli/demo/demo-manifests.ts'
import { startOwnCluster } from '../cluster/support/own-cluster.ts'
import { until } from '../cluster/support/wait.ts'
import { BASE_REMARK } from './base-image.ts'
import { Container } from './container.ts'
import './provided.ts'

const QUICKSTART = fileURLToPath(new URL('../../examples/quickstart', import.meta.url))
const KUBECONFIG = '/etc/culvert/kubeconfig'
const API_KEY = 'key-of-the-image-suite'
const OPERATOR_NAMESPACE = 'culvert-system'
const USER = 65532

const image = inject('image')
const manifests = await readManifests(QUICKSTART)
const resources = customResources(manifests)

/** What `beforeAll` got to, in its order. */
const opened = new AsyncDisposableStack()
let cluster: ControlPlane
let folder: string
let emulatorURL: string

beforeAll(async () => {
  cluster = opened.use(await startOwnCluster())
  folder = opened.adopt(await mkdtemp(join(tmpdir(), 'culvert-image-')), (path) => rm(path, { recursive: true }))
  // As a mounted Secret would be: for the container's user alone.
  await copyFile(cluster.kubeconfigPath, join(folder, 'kubeconfig'))
  await chown(join(folder, 'kubeconfig'), USER, USER)
  await chmod(join(folder, 'kubeconfig'), 0o400)
  const [emulator, url] = await startEmulator()
  opened.use(emulator)
  emulatorURL = url
  await kubectl(['create', 'namespace', OPERATOR_NAMESPACE])
})

afterAll(() => opened.disposeAsync())

async function kubectl(args: readonly string[], stdin?: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectl(args, stdin === undefined ? {} : { stdin })
  expect(code, stderr).toBe(0)
  return stdout
}

async function startEmulator(...flags: readonly string[]): Promise<[emulator: Container, url: string]> {
  const args = ['emulator', '--listen', '127.0.0.1:0', '--api-key', API_KEY, '--cert-seconds', '1', ...flags]
  const container = await Container.start({ image, args })
  const [, url = ''] = await container.printed(/^emulator listening on (\S+)$/)
  return [container, url]
}

function startOperator(name: string, apiURL: string): Promise<Container> {
  return Container.start({
    image,
    args: [
      ...['operator', '--kubeconfig', KUBECONFIG, '--namespace', OPERATOR_NAMESPACE, '--name', name],
      ...['--allow-api-host', new URL(apiURL).host, '--allow-http', '--listen', '127.0.0.1:0'],
    ],
    files: [{ source: join(folder, 'kubeconfig'), target: KUBECONFIG }],
  })
}

async function isWell(operator: Container): Promise<boolean> {
  const [, port = ''] = /"port":(\d+),"msg":"serving health and metrics"/.exec(operator.output) ?? []
  return port !== '' && (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
}

/** Names of the custom resources that are Ready. */
async function ready(): Promise<readonly string[]> {
  const { items } = JSON.parse(await kubectl(['get', 'culvert', '-A', '-o', 'json'])) as {
    readonly items: readonly {
      readonly kind: string
      readonly metadata: { readonly name: string }
      readonly status?: Status
    }[]
  }
  return items
    .filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
    .map(({ kind, metadata: { name } }) => `${kind}/${name}`)
}

interface Status {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[]
}

async function holderOf(lease: string): Promise<string> {
  return kubectl(['-n', OPERATOR_NAMESPACE, 'get', 'lease', lease, '-o', 'jsonpath={.spec.holderIdentity}'])
}

/** What the kernel says of the container's first process. */
async function processOf(container: Container): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(`/proc/${await container.pid()}/status`, 'utf8')
  return new Map(text.split('\n').map((line) => line.split(':\t') as [string, string]))
}

async function processesBeside(pid: number): Promise<readonly string[]> {
  const namespace = await readlink(`/proc/${pid}/ns/pid`)
  const all = globSync('/proc/[0-9]*').map(async (path) => {
    return (await readlink(`${path}/ns/pid`).catch(() => '')) === namespace ? [path.slice('/proc/'.length)] : []
  })
  return (await Promise.all(all)).flat()
}

test('read-only, as nobody, with no capability: all resources of the quickstart become Ready, and a stop gives the Lease back', async () => {
  await kubectl(
    ['apply', '--server-side', '--force-conflicts', '-f', '-'],
    toYaml(aimAtEmulator(manifests, { url: emulatorURL, apiKey: API_KEY })),
  )
  await using operator = await startOperator('quickstart', emulatorURL)
  const since = (): number => Math.round(performance.now() - operator.startedAt)
  await until('it is well', () => isWell(operator), { timeoutMs: 60_000, describe: () => operator.output })
  const wellAfter = since()
  await until('a resource is Ready', async () => (await ready()).length > 0, { describe: () => operator.output })
  const firstAfter = since()
  const wanted = resources.map(({ kind, name }) => `${kind}/${name}`).sort()
  await until('all are Ready', async () => (await ready()).length === wanted.length, {
    timeoutMs: 90_000,
    describe: ready,
  })
  const allAfter = since()
  expect([...(await ready())].sort()).toEqual(wanted)

  const status = await processOf(operator)
  expect(status.get('Name')).toMatch(/^(node|MainThread)$/)
  expect(status.get('NoNewPrivs')).toBe('1')
  for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
    expect(Number(`0x${status.get(set)}`), set).toBe(0)
  expect(status.get('Uid')?.split('\t')).toEqual(Array(4).fill(String(USER)))
  expect(status.get('NSpid')?.split('\t').at(-1)).toBe('1')
  expect(await processesBeside(await operator.pid())).toHaveLength(1)

  expect(await holderOf('quickstart')).not.toBe('')
  const stopped = performance.now()
  expect(await operator.stop()).toBe(0)
  const stopTook = Math.round(performance.now() - stopped)
  expect(await holderOf('quickstart')).toBe('')

  const { all, added } = image.bytes
  const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`
  console.log(
    `image ${megabytes(all)} unpacked, of which Culvert ${megabytes(added)}; ` +
      `/readyz after ${wellAfter} ms, first Ready after ${firstAfter} ms, all ${wanted.length} after ${allAfter} ms; ` +
      `at most ${status.get('VmHWM')?.trim()} resident; stopped in ${stopTook} ms. ${BASE_REMARK}`,
  )
})

test('the emulator ends on a stop, too', async () => {
  const [container] = await startEmulator()
  await using _ = container
  expect(await container.stop()).toBe(0)
})

test('a stop while the API does not answer still ends in order and gives the Lease back', async () => {
  const [slow, slowURL] = await startEmulator('--latency', '60s')
  await using _ = slow
  await using operator = await startOperator('hanging', slowURL)
  await kubectl(['apply', '--server-side', '-f', '-'], hangingAccount(slowURL))
  await operator.printed(/"msg":"reconciling"/)
  await until('a request is in flight', () => holdsConnection(operator, slowURL))
  expect(await operator.stop()).toBe(0)
  expect(await holderOf('hanging')).toBe('')
})

test('a second signal ends it at once, though the kernel spares process 1 what a signal does by default', async () => {
  const [slow, slowURL] = await startEmulator('--latency', '60s')
  await using _ = slow
  await using operator = await startOperator('twice', slowURL)
  await kubectl(['apply', '--server-side', '-f', '-'], hangingAccount(slowURL))
  await operator.printed(/"msg":"reconciling"/)
  await until('a request is in flight', () => holdsConnection(operator, slowURL))
  await operator.signal('SIGTERM')
  await operator.printed(/"msg":"stopped leading"/)
  await operator.signal('SIGTERM')
  expect(await operator.exited()).toBe(143)
})

function hangingAccount(url: string): string {
  const name = `port-${new URL(url).port}`
  return toYaml([
    { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' }, stringData: { apiKey: API_KEY } },
    {
      apiVersion: 'culvert.dev/v1alpha1',
      kind: 'Account',
      metadata: { name, namespace: 'default' },
      spec: { baseURL: url, apiKeySecretRef: { name } },
    },
  ])
}

/** Whether a connection to the API is open, by the kernel's table; the operator has the only one. */
async function holdsConnection(operator: Container, url: string): Promise<boolean> {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')
  const table = await readFile(`/proc/${await operator.pid()}/net/tcp`, 'utf8')
  return table.split('\n').some((line) => new RegExp(`^ *\\d+: \\S+ [0-9A-F]{8}:${port} 01 `).test(line))
}
