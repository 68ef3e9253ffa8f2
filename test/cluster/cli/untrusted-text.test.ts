import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { ProgramResult } from '../../../controlplane/run-program.ts'
import { commands } from '../../../src/cli/commands.ts'
import { startServer, type TestServer } from '../../builders/http-server.ts'
import { KubeProxy } from '../../builders/kube-proxy.ts'
import { HOSTILE, type Keep, poisoned, SHOWN, unprintableIn } from '../../builders/untrusted-text.ts'
import { culvert } from '../support/culvert.ts'
import { until } from '../support/wait.ts'
import { typeOf, World } from '../support/world.ts'

/*
 * Each command, with hostile text in every string of what the API servers of Kubernetes and of the service answer, of
 * manifests and of audit records: nothing of it may reach a terminal, a log or a pull request raw.
 */

let world: World
/** Answers of the API server, and of the service, with hostile text. */
let kube: KubeProxy
let service: KubeProxy
let web: TestServer
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'culvert-untrusted-'))
  world = await World.open({ leaderElect: true, account: { mirrorSessions: { enabled: true, interval: '1s' } } })
  ;[kube, service, web] = await Promise.all([
    KubeProxy.start(world.kubeconfig),
    KubeProxy.inFrontOf(world.emulator.url),
    startServer((_request, response) => void response.end(HOSTILE)),
  ])
  await create('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow', description: HOSTILE }] })
  await create('Backend', 'web', {
    type: 'TunnelGroup',
    description: HOSTILE,
    tunnelGroup: { labels: { [`app${HOSTILE}`]: HOSTILE } },
  })
  await create('Edge', 'shop', { protocol: 'TLS', backend: { name: 'web' } })
  await create('Edge', 'beta', { protocol: 'TLS', backend: { name: 'next' } })
  await create('Backend', 'plan', {
    managementPolicy: 'Plan',
    type: 'TunnelGroup',
    description: HOSTILE,
    tunnelGroup: { labels: { [HOSTILE]: HOSTILE } },
  })
  const token = String((await world.api.post('/credentials', {})).body.token)
  const place = { os: `linux${HOSTILE}`, region: HOSTILE, ip: '198.51.100.7' }
  world.emulator.admin.connectAgent({ token, ...place })
  for (const [kind, name] of [
    ['IPPolicy', 'office'],
    ['Edge', 'shop'],
  ] as const)
    await world.ready(kind, name)
  await world.reason('Edge', 'beta', 'Synced', 'ReferenceNotReady')
  await world.reason('Backend', 'plan', 'Synced', 'AwaitingApproval')
  const [policy] = await world.remote('ip_policies')
  const { culvert: marker } = JSON.parse(String(policy?.metadata))
  const planted = { ...marker, name: `gone${HOSTILE}`, uid: 'u', nonce: 'n' }
  await world.api.post('/ip_policies', { description: HOSTILE, metadata: JSON.stringify({ culvert: planted }) })
  await world.resync()
  await until(
    'an orphan is reported',
    async () => Number((await world.get('Account', 'default'))?.status?.orphanCount) > 0,
  )
  await until('a session is shown', async () => (await world.list('TunnelSession')).length > 0)
  await writeFile(join(folder, 'audit.log'), auditLog())
  await writeFile(join(folder, 'manifests.json'), manifests())
  await writeFile(join(folder, 'refused.json'), refused())
})

afterAll(async () => {
  await Promise.all([kube, service].map((proxy) => proxy[Symbol.asyncDispose]()))
  await web.close()
  await world[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** As JSON: the API server reads what is applied as YAML, in which the text would have to be escaped. */
async function create(kind: string, name: string, spec: object): Promise<void> {
  const metadata = { name, namespace: world.namespace }
  await world.kube.create(typeOf(kind), metadata, { apiVersion: API_VERSION, kind, metadata, spec })
}

function auditLog(): string {
  const resource = { kind: 'Backend', namespace: world.namespace, name: 'web' }
  const time = new Date().toISOString()
  const record = { audit: true, time, resource, outcome: HOSTILE, reason: HOSTILE, method: HOSTILE, error: HOSTILE }
  return `${JSON.stringify({ ...record, msg: HOSTILE, collection: HOSTILE, objectId: HOSTILE, fields: [HOSTILE] })}\n`
}

const API_VERSION = 'culvert.dev/v1alpha1'

function manifests(): string {
  const backend = (name: string, spec: object) => {
    return JSON.stringify({ apiVersion: API_VERSION, kind: 'Backend', metadata: { name }, spec })
  }
  const tunnelGroup = { labels: { [`app${HOSTILE}`]: HOSTILE } }
  const failover = { backendRefs: [{ name: 'nowhere' }] }
  return [
    backend('new', { type: 'TunnelGroup', description: HOSTILE, metadata: { [HOSTILE]: HOSTILE }, tunnelGroup }),
    backend('waiting', { type: 'Failover', description: HOSTILE, failover }),
  ].join('\n')
}

function refused(): string {
  const spec = { type: HOSTILE, [HOSTILE]: HOSTILE }
  return JSON.stringify({ apiVersion: API_VERSION, kind: `Backend${HOSTILE}`, metadata: { name: HOSTILE }, spec })
}

/** Where a command finds its cluster, and the account at the service. */
const here = () => ['-n', world.namespace, '--kubeconfig', kube.kubeconfigPath]
const operator = () => [...here(), '--operator-namespace', world.operatorNamespace]
const account = () => ['-n', world.namespace, '--base-url', service.url]

/** A command, and whether it shows any of the text when nothing that it goes by is changed. */
interface Case {
  readonly args: () => readonly string[]
  readonly shows: boolean
  readonly form?: 'json' | 'yaml'
}

const shown = (args: Case['args'], form?: Case['form']): Case => ({ args, shows: true, ...(form && { form }) })
const silent = (args: Case['args'], form?: Case['form']): Case => ({ ...shown(args, form), shows: false })

const cases: Readonly<Record<string, readonly Case[]>> = {
  plan: [
    shown(() => ['plan', '-f', join(folder, 'manifests.json'), ...account()]),
    shown(() => ['plan', '-f', join(folder, 'manifests.json'), ...account(), '-o', 'markdown']),
    shown(() => ['plan', '-f', join(folder, 'manifests.json'), ...account(), '-o', 'json'], 'json'),
    shown(() => ['plan', '-f', join(folder, 'refused.json'), ...account()]),
  ],
  export: [shown(() => ['export', ...account()], 'yaml')],
  why: [
    shown(() => ['why', 'edge/beta', ...operator()]),
    shown(() => ['why', 'edge/beta', ...operator(), '-o', 'json'], 'json'),
  ],
  get: [
    shown(() => ['get', ...here()]),
    shown(() => ['get', 'tunnelsessions', 'accounts', ...here()]),
    shown(() => ['get', ...here(), '-o', 'json'], 'json'),
    shown(() => ['get', 'edges', ...here(), '-o', 'wide']),
    silent(() => ['get', ...here(), '-o', 'name']),
    shown(() => ['get', 'backends', ...here(), '-o', 'yaml'], 'yaml'),
  ],
  check: [
    silent(() => ['check', 'edge/beta', '--from', '203.0.113.7', ...operator()]),
    silent(() => ['check', 'edge/beta', '--from', '203.0.113.7', ...operator(), '-o', 'json'], 'json'),
  ],
  version: [silent(() => ['version', ...operator()]), silent(() => ['version', ...operator(), '-o', 'json'], 'json')],
  tree: [
    shown(() => ['tree', ...here()]),
    shown(() => ['tree', ...here(), '-o', 'json'], 'json'),
    shown(() => ['tree', 'backend/web', '--reverse', ...here()]),
  ],
  graph: [
    silent(() => ['graph', ...here()]),
    silent(() => ['graph', ...here(), '--unhealthy']),
    shown(() => ['graph', ...here(), '-o', 'dot']),
  ],
  doctor: [shown(() => ['doctor', ...operator()]), shown(() => ['doctor', ...operator(), '-o', 'json'], 'json')],
  reconcile: [shown(() => ['reconcile', 'backend/web', '--wait', '--timeout', '1s', ...here()])],
  pause: [shown(() => ['pause', 'ippolicy/office', '--wait', '--timeout', '1s', ...here()])],
  resume: [shown(() => ['resume', 'ippolicy/office', '--wait', '--timeout', '1s', ...here()])],
  rotate: [silent(() => ['rotate', 'backend/web', ...here()])],
  approve: [shown(() => ['approve', 'backend/plan', ...here()])],
  events: [
    shown(() => ['events', ...operator()]),
    shown(() => ['events', ...operator(), '-o', 'json'], 'json'),
    shown(() => ['events', '--audit-log', join(folder, 'audit.log'), ...operator()]),
  ],
  orphans: [
    shown(() => ['orphans', ...operator()]),
    shown(() => ['orphans', ...operator(), '-o', 'json'], 'json'),
    shown(() => ['orphans', '--delete', ...operator()]),
  ],
  sessions: [
    shown(() => ['sessions', 'list', ...here()]),
    shown(() => ['sessions', 'list', ...here(), '-o', 'json'], 'json'),
    shown(() => ['sessions', 'stop', '-l', 'culvert.dev/region!=none', ...here()]),
  ],
  leftovers: [silent(() => ['leftovers', '--watch-namespace', world.namespace, '--kubeconfig', kube.kubeconfigPath])],
  probe: [shown(() => ['probe', web.url]), shown(() => ['probe', `${web.url}/?${HOSTILE.slice(0, 4)}`])],
  completion: [silent(() => ['completion', 'bash']), silent(() => ['__complete', 'why', 'edge/', ...here()])],
}

/** Servers, which log (`src/util/logger.ts`) or answer a browser, and the demo, which starts some of them. */
const SERVERS = ['operator', 'agent', 'emulator', 'demo', 'ui']

/** What an object is found by, and would not be found without. */
const addresses: Keep = (path) => {
  const [name = '', parent] = [path.at(-1), path.at(-2)]
  return (
    ['apiVersion', 'kind', 'uid', 'resourceVersion'].includes(name) || (parent === 'metadata' && IDENTITY.has(name))
  )
}
const IDENTITY: ReadonlySet<string> = new Set(['name', 'namespace', 'continue'])

/** The same, and what commands go by: they get as far as with honest answers. */
const logic: Keep = (path) => {
  const name = path.at(-1) ?? ''
  return addresses(path) || LOGIC.has(name) || /(At|Time|Timestamp|URL)$/.test(name) || path.includes('internal')
}
const LOGIC: ReadonlySet<string> = new Set(
  'type status reason action protocol managementPolicy hash since name namespace collection id group version key versionHeader'.split(
    ' ',
  ),
)

/** Not poisoned: what is no text of anybody, and credentials, without which there is no answer. */
const HONEST = /^(API|SelfSubject|Secret|CustomResourceDefinition|Namespace)/

function poisonBoth(keep: Keep): void {
  kube.rewrite = (_request, body) => {
    if (!body.startsWith('{')) return `${body}${HOSTILE}`
    const answer = JSON.parse(body) as { readonly kind?: string }
    return HONEST.test(answer.kind ?? '') ? body : JSON.stringify(poisoned(answer, keep))
  }
  service.rewrite = (_request, body) => {
    return body.startsWith('{') ? JSON.stringify(poisoned(JSON.parse(body), keepOfService)) : body
  }
}
/** Ids and links are paths, and values of fixed sets would make objects of no kind. */
const keepOfService: Keep = (path) => !['description', 'labels', 'name', 'region'].includes(path.at(-1) ?? '')

function run({ args }: Case, coloured: boolean): Promise<ProgramResult> {
  const env = { CULVERT_API_KEY: world.emulator.apiKey, ...(coloured ? COLOURED : {}) }
  return culvert(args(), { kubeconfig: kube.kubeconfigPath, env })
}
const COLOURED = { FORCE_COLOR: '1', NO_COLOR: '' }

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => [name, ...textsIn(each)])
}

test('every command is tried, but for servers', () => {
  expect(new Set([...Object.keys(cases), ...SERVERS])).toEqual(new Set(Object.keys(commands)))
})

const named = Object.values(cases).flatMap((each) =>
  each.map((one, index) => [`${Object.keys(cases).find((name) => cases[name] === each)} (${index + 1})`, one] as const),
)

describe('nothing of strangers gets raw to a terminal', { concurrent: false }, () => {
  test.each(named)('from culvert %s', async (_name, one) => {
    poisonBoth(logic)
    const coloured = await run(one, true)
    poisonBoth(addresses)
    // JSON and YAML have no colours.
    const plain = one.form === undefined ? await run(one, false) : coloured
    for (const [ran, options] of [
      [coloured, { coloured: true }],
      [plain, { coloured: false }],
    ] as const) {
      expect(unprintableIn(ran.stdout, options)).toBeUndefined()
      expect(unprintableIn(ran.stderr, options)).toBeUndefined()
    }
    const printed = [coloured, plain].map(({ stdout, stderr }) => stdout + stderr).join('')
    expect(printed.includes(SHOWN), printed).toBe(one.shows)
    if (one.form === undefined) return
    const read = one.form === 'json' ? JSON.parse(coloured.stdout) : documentsOf(coloured.stdout)
    expect(textsIn(read).some((text) => text.endsWith(HOSTILE))).toBe(one.shows)
  })
})

function documentsOf(text: string): readonly unknown[] {
  return parseAllDocuments(text).map((document) => {
    expect(document.errors).toEqual([])
    return document.toJS() as unknown
  })
}
