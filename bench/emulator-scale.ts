import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Resource } from '../src/emulator/objects/resource.ts'
import { RESOURCES } from '../src/emulator/resources/index.ts'
import type { JsonObject } from '../src/emulator/values/json.ts'
import { caPem } from '../test/builders/contract/ca-pem.ts'
import { sshKeys } from '../test/builders/contract/ssh-keys.ts'
import { usageOf } from '../test/builders/process-usage.ts'
import type { Row } from './row.ts'

const OBJECTS = 200_000
const KEY = 'key-of-the-bench'
const ADMIN = 'admin-token-of-the-bench'
const COMMAND = fileURLToPath(new URL('../bin/culvert.js', import.meta.url))
/** The value of `metadata`: the size of the operator's marker. */
const METADATA = `{"installation":"bench","uid":"${'0'.repeat(36)}","object":"{n}","nonce":"${'0'.repeat(32)}"}`

/** Seeds through the admin surface, kills the process and starts another one on its file. */
export async function run(): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'culvert-bench-'))
  try {
    const data = join(folder, 'emulator.db')
    const first = await start(data)
    const { collections, objects, seconds } = await seed(first.url)
    const seeded = await residentMiB(first.child)
    await stop(first.child)
    const { size } = await stat(data)
    const second = await start(data)
    await readEverywhere(second.url)
    const resident = await residentMiB(second.child)
    await stop(second.child)
    const load = `emulator: ${objects} objects in ${collections} collections`
    return [
      { load, figure: 'seed', value: seconds, unit: 's' },
      { load, figure: 'memory after the seed', value: seeded, unit: 'MiB' },
      { load, figure: 'size of the file', value: size / 2 ** 20, unit: 'MiB' },
      { load, figure: 'start, beside one on an empty file', value: second.seconds, unit: 's', floor: first.seconds },
      { load, figure: 'memory after a page of each', value: resident, unit: 'MiB' },
    ]
  } finally {
    await rm(folder, { recursive: true })
  }
}

interface Running {
  readonly child: ChildProcess
  readonly url: string
  readonly seconds: number
}

async function start(data: string): Promise<Running> {
  const begun = performance.now()
  const flags = ['emulator', '--listen', '127.0.0.1:0', '--data', data, '--api-key', KEY, '--admin-token', ADMIN]
  const child = spawn(process.execPath, [COMMAND, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface(child.stdout)) {
    const url = /^emulator listening on (\S+)$/.exec(line)?.[1]
    if (url !== undefined) return { child, url, seconds: (performance.now() - begun) / 1000 }
  }
  throw new Error('the emulator ended without listening')
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** Spreads the objects evenly over every collection with creates. */
async function seed(url: string): Promise<{ collections: number; objects: number; seconds: number }> {
  const served = RESOURCES.filter((resource) => resource.served && resource.readOnly !== true)
  const count = Math.ceil(OBJECTS / served.length)
  const values = await valuesOf(url)
  const begun = performance.now()
  await admin(url, {
    bulk: ordered(served).map((each) => ({ collection: each.path, count, body: bodyOf(each, values) })),
  })
  const seconds = (performance.now() - begun) / 1000
  return { collections: served.length, objects: count * served.length, seconds }
}

/** Domains first: edges listen on them. */
function ordered(resources: readonly Resource[]): readonly Resource[] {
  const listens = (resource: Resource): number => ('hostports' in resource.fields ? 1 : 0)
  return resources.toSorted((left, right) => listens(left) - listens(right))
}

type Values = Readonly<Record<string, JsonObject[string]>>

/** A value for every required field of any collection, and for those that give objects a realistic size. */
async function valuesOf(url: string): Promise<Values> {
  const { objects } = await admin(url, {
    objects: {
      users: [{ name: 'owner' }],
      ip_policies: [{}],
      ssh_certificate_authorities: [{}],
      'backends/http_response': [{}],
    },
  })
  const first = (collection: string): string => String(objects[collection]?.[0])
  return {
    description: 'object {n} of the bench',
    metadata: METADATA,
    owner_id: first('users'),
    ip_policy_id: first('ip_policies'),
    ip_policy_ids: [first('ip_policies')],
    ssh_certificate_authority_id: first('ssh_certificate_authorities'),
    name: 'bot {n}',
    cidr: 'fd00::{n}',
    action: 'allow',
    type: 'dashboard',
    domain: 'host-{n}.tunnel.example',
    hostports: ['host-{n}.tunnel.example:443'],
    backend: { backend_id: first('backends/http_response') },
    ip_restriction: { ip_policy_ids: [first('ip_policies')] },
    labels: { app: 'shop-{n}' },
    public_key: sshKeys.ed25519,
    ca_pem: caPem,
    format: 'json',
    target: { monitor: { api_key: 'secret-{n}', service: 'bench' } },
    sources: [{ type: 'never_fired.v0' }],
  }
}

function bodyOf({ path, fields }: Resource, values: Values): JsonObject {
  const body: JsonObject = {}
  for (const [name, { within, absent }] of Object.entries(fields)) {
    const value = values[name]
    if (within === 'update') continue
    if (value !== undefined) body[name] = value
    else if (absent === 'mandatory') throw new Error(`the bench has no value for ${name} of ${path}`)
  }
  // No two edges share a hostport, whatever their protocol.
  if (path === 'edges/tls') body.hostports = ['host-{n}.tunnel.example:8443']
  return body
}

interface Seeded {
  readonly objects: Readonly<Record<string, readonly string[]>>
}

async function admin(url: string, spec: JsonObject): Promise<Seeded> {
  const response = await fetch(`${url}/_emulator/seed`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' },
    body: JSON.stringify(spec),
  })
  if (response.status !== 201) throw new Error(`the seed was answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Seeded
}

async function readEverywhere(url: string): Promise<void> {
  const headers = { authorization: `Bearer ${KEY}`, 'service-version': '2' }
  for (const { path, served } of RESOURCES) {
    if (!served) continue
    const response = await fetch(`${url}/${path}`, { headers })
    if (response.status !== 200) throw new Error(`${path} was answered ${response.status}`)
    await response.text()
  }
}

async function residentMiB({ pid = 0 }: ChildProcess): Promise<number> {
  return (await usageOf(pid)).residentMiB
}
