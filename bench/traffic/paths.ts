import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { SshAgents, type SshKeyFile } from '../../test/builders/contract/ssh-agent.ts'
import { EmulatorClient } from '../../test/builders/emulator-client.ts'
import { freePort } from '../../test/builders/free-port.ts'
import { pathOfProgram } from '../../test/builders/system-programs.ts'
import { openIdle, type Place } from './load.ts'

/** A way from a client to the service. */
export interface Path extends AsyncDisposable {
  readonly name: string
  readonly place: Place
  /** Its processes, without those that they have started. */
  readonly pids: readonly number[]
}

const DEADLINE_MS = 30_000
const API_KEY = 'bench-key'
const ADMIN_TOKEN = 'bench-admin'

/** Starts one of this folder's programs, which listen on a port of their own. */
export async function startProgram(
  name: 'relay' | 'service',
  ...args: readonly string[]
): Promise<[Place, ChildProcess]> {
  const file = fileURLToPath(new URL(`${name}.ts`, import.meta.url))
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [{ port }] = (await Promise.race([once(child, 'message'), ended(child, name)])) as [AddressInfo]
  return [{ address: '127.0.0.1', port }, child]
}

/** As many processes as the path has, each of which only copies bytes. */
export async function startRelays(service: Place): Promise<Path> {
  await using started = new AsyncDisposableStack()
  const [second, secondChild] = await startProgram('relay', String(service.port))
  started.defer(() => stop(secondChild))
  const [first, firstChild] = await startProgram('relay', String(second.port))
  started.defer(() => stop(firstChild))
  return pathOf('two plain relays', first, [firstChild.pid ?? 0, secondChild.pid ?? 0], started.move())
}

/** What runs of Culvert: `culvert emulator --gateway` and `culvert agent`, or OpenSSH's `ssh -R` as the agent. */
export interface CulvertOptions {
  /** The program of the image. */
  readonly program: string
  readonly agent: 'culvert' | 'ssh'
  /** Where CPU profiles are written; undefined: none. */
  readonly profiles: string | undefined
}

/** Client, edge and gateway, agent, service. */
export async function startCulvert(service: Place, { program, agent, profiles }: CulvertOptions): Promise<Path> {
  const flags = profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`]
  await using started = new AsyncDisposableStack()
  const node = (...args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [...flags, program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    started.defer(() => stop(child))
    return child
  }
  const listen = ['--listen', '127.0.0.1:0', '--ssh-listen', '127.0.0.1:0', '--tls-listen', '127.0.0.1:0']
  const emulator = node('emulator', '--gateway', ...listen, '--api-key', API_KEY, '--admin-token', ADMIN_TOKEN)
  const says = outputOf(emulator)
  const [, url = ''] = await says(/^emulator listening on (\S+)$/m)
  const [, host = '', port = '', hostKey = ''] = await says(
    /^SSH gateway listening on (\S+):(\d+) with the host key (.+)$/m,
  )
  const api = new EmulatorClient(url, API_KEY)
  const agents = await SshAgents.start()
  started.defer(() => agents.close())
  const key = await agents.newKey()
  await api.post('/ssh_credentials', { public_key: key.publicKey })
  const backend = await api.post('/backends/tunnel_group', { labels: { app: 'bench' } })
  const { body: address } = await api.post('/reserved_addrs', {})
  await api.post('/edges/tcp', { hostports: [address.addr], backend: { backend_id: backend.body.id } })
  const target = `127.0.0.1:${service.port}`
  const start = async (): Promise<number> => {
    if (agent === 'ssh') {
      return (await agents.connect({ host, port: Number(port), hostKey }, key, `app=bench:1:${target}`)).pid
    }
    const at = ['--gateway', `${host}:${port}`, '--host-key', hostKey, '--key', key.path, '--log-level', 'warn']
    const own = node(
      'agent',
      ...at,
      '--forward',
      `app=bench=${target}`,
      '--listen',
      '127.0.0.1:0',
      '--connections',
      '10000',
    )
    outputOf(own)
    return own.pid ?? 0
  }
  const pids = [emulator.pid ?? 0, await start()]
  const place = await placeOf(url, String(address.addr))
  await untilServed(place)
  const name = `through the gateway and ${agent === 'ssh' ? 'OpenSSH as the agent' : 'culvert agent'}`
  return pathOf(name, place, pids, started.move())
}

/** `ssh -R` through OpenSSH's own server; undefined, with a message, where that is not installed. */
export async function startOpenSSH(service: Place): Promise<Path | undefined> {
  const [sshd, ssh] = [await pathOfProgram('sshd'), await pathOfProgram('ssh')]
  if (sshd === undefined || ssh === undefined) {
    console.error(
      'no rows compared to ssh -R: sshd or ssh is missing (on Debian: apt-get install openssh-server openssh-client)',
    )
    return undefined
  }
  await using started = new AsyncDisposableStack()
  const agents = await SshAgents.start()
  const folder = await mkdtemp(join(tmpdir(), 'culvert-bench-sshd-'))
  started.defer(() => rm(folder, { recursive: true }))
  const [hostKey, key] = [await agents.newKey(), await agents.newKey()]
  const [port, entrance] = [await freePort(), await freePort()]
  const config = await configure(folder, port, hostKey, key)
  const server = spawn(sshd, ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'ignore'] })
  started.defer(() => stop(server))
  started.defer(() => agents.close())
  await untilAccepted({ address: '127.0.0.1', port })
  const [type, base64] = hostKey.publicKey.split(' ')
  const gateway = { host: '127.0.0.1', port, hostKey: `${type} ${base64}`, user: userInfo().username }
  const client = await agents.connect(gateway, key, `127.0.0.1:${entrance}:127.0.0.1:${service.port}`)
  const place = { address: '127.0.0.1', port: entrance }
  await untilServed(place)
  return pathOf('ssh -R through sshd', place, [server.pid ?? 0, client.pid], started.move())
}

async function configure(folder: string, port: number, hostKey: SshKeyFile, key: SshKeyFile): Promise<string> {
  // A server that root runs needs it, and an installation without init lacks it.
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 })
  const [config, keys] = [join(folder, 'sshd.conf'), join(folder, 'authorized_keys')]
  await writeFile(keys, `${key.publicKey}\n`)
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${hostKey.path}`,
    `AuthorizedKeysFile ${keys}`,
    'AuthenticationMethods publickey',
    'PermitRootLogin yes',
    'UsePAM no',
    'StrictModes no',
    'PidFile none',
  ]
  await writeFile(config, `${lines.join('\n')}\n`)
  return config
}

function pathOf(name: string, place: Place, pids: readonly number[], started: AsyncDisposableStack): Path {
  return { name, place, pids, [Symbol.asyncDispose]: () => started.disposeAsync() }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

/** Where the edge of a hostport listens. */
async function placeOf(url: string, hostport: string): Promise<Place> {
  const surface = new EmulatorClient(`${url}/_emulator`, ADMIN_TOKEN)
  return until(`${hostport} is served`, async () => {
    const { body } = await surface.get('/listeners')
    const listeners = body.listeners as readonly (Place & { readonly hostport: string; readonly error: unknown })[]
    return listeners.find((each) => each.hostport === hostport && each.error === null)
  })
}

/** Resolves when the service answers at the other end of a path. */
async function untilServed(place: Place): Promise<void> {
  await until('the path carries a request', async () => {
    const late = sleep(1000)
    const answered = openIdle(place, 1).then(([socket]) => socket?.destroy())
    return await Promise.race([answered.then(() => true), late.then(() => undefined)]).catch(() => undefined)
  })
}

async function untilAccepted(place: Place): Promise<void> {
  await until('the port is open', async () => {
    const socket = connect({ host: place.address, port: place.port })
    return await once(socket, 'connect').then(
      () => {
        socket.destroy()
        return true
      },
      () => undefined,
    )
  })
}

async function until<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error(`${what}: not after ${DEADLINE_MS} ms`)
    await sleep(50)
  }
}

/** Waits for a match in the standard output of a process. */
function outputOf(child: ChildProcess): (pattern: RegExp) => Promise<RegExpExecArray> {
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  child.stderr?.pipe(process.stderr)
  return (pattern) => until(`${pattern} in ${text}`, async () => pattern.exec(text) ?? undefined)
}

async function ended(child: ChildProcess, name: string): Promise<never> {
  await once(child, 'exit')
  throw new Error(`${name} ended`)
}
