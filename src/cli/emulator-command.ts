import { setFlagsFromString } from 'node:v8'
import { Command, InvalidArgumentError } from 'commander'
import { readEnvironment } from '../config.ts'
import {
  type Alternative,
  contraryOnes,
  DECIDED,
  drawnBy,
  OptionError,
  readChoice,
  withAlternative,
} from '../emulator/choices/choices.ts'
import { startEmulator } from '../emulator/emulator.ts'
import { type EmulatorOptions, parseRateLimit } from '../emulator/emulator-options.ts'
import { type GatewayOptions, parseIpAddress, parseIpRange, parseListen } from '../emulator/gateway/gateway-options.ts'
import { StorageError } from '../emulator/store/database.ts'
import { systemRandom } from '../util/random.ts'
import { stopSignal } from './exit.ts'
import { duration } from './flags.ts'
import { standardTerminals } from './terminal/terminal.ts'

interface Flags {
  listen: string
  apiKey?: string | undefined
  data: string
  versionHeader: string[]
  latency: number
  rateLimit?: ReturnType<typeof parseRateLimit>
  certSeconds: number
  serviceDomain: string
  trustForwardedFor: boolean
  admin: boolean
  adminToken?: string | undefined
  adminRemote: boolean
  gateway: boolean
  sshListen?: string
  tlsListen?: string
  edgeAddress?: string
  dnsListen?: string
  proxyFrom?: string[]
  /** The seed; true to generate one. */
  contrary?: string | true
  choose: readonly Alternative[]
}

const GATEWAY_FLAGS = {
  sshListen: '--ssh-listen',
  tlsListen: '--tls-listen',
  edgeAddress: '--edge-address',
  dnsListen: '--dns-listen',
  proxyFrom: '--proxy-from',
} as const

/** `culvert emulator`: serves the management API until SIGTERM or SIGINT. */
export function emulatorCommand(): Command {
  return new Command('emulator')
    .description('Serve an emulation of the management API, with an admin surface under /_emulator/.')
    .option(
      '--listen <address>',
      'address to listen on; port 0 picks a free one',
      checked(parseListen),
      '127.0.0.1:4040',
    )
    .option(
      '--api-key <token>',
      "token of the administrator's API key (default: CULVERT_EMULATOR_API_KEY, or generated and printed)",
    )
    .option('--data <path>', 'file that keeps the data, or :memory:', ':memory:')
    .option('--version-header <name>', 'additional header that may carry the API version (repeatable)', collect, [])
    .option('--latency <duration>', 'added to every request, such as 20ms', duration, 0)
    .option('--rate-limit <rate>', 'requests allowed per API key, such as 120/min', reading(parseRateLimit))
    .option('--cert-seconds <seconds>', 'how long a certificate takes to provision', reading(seconds), 5)
    .option('--service-domain <domain>', 'domain whose subdomains need no DNS records', 'tunnel.example')
    .option(
      '--trust-forwarded-for',
      'use the last address of X-Forwarded-For as the source address for IP restrictions',
      false,
    )
    .option('--no-admin', 'serve no admin surface')
    .option(
      '--admin-token <token>',
      'bearer token of the admin surface (default: CULVERT_EMULATOR_ADMIN_TOKEN, or generated and printed)',
    )
    .option('--admin-remote', 'let the admin surface answer other machines, not only loopback', false)
    .option('--gateway', 'carry traffic: an SSH gateway for agents, and edges that listen', false)
    .option(
      '--ssh-listen <address>',
      'address of the SSH gateway (default: 127.0.0.1:2222; needs --gateway)',
      checked(parseListen),
    )
    .option(
      '--tls-listen <address>',
      'address on which TLS edges listen (default: 127.0.0.1:4443; needs --gateway)',
      checked(parseListen),
    )
    .option(
      '--edge-address <ip>',
      'address on which TCP edges listen (default: one of 127.0.0.0/8 for each host; needs --gateway)',
      checked(parseIpAddress),
    )
    .option(
      '--dns-listen <address>',
      'address on which DNS queries for the names of edges are answered, over UDP (default: none; needs --gateway)',
      checked(parseListen),
    )
    .option(
      '--proxy-from <range>',
      'addresses whose connections to edges begin with a header of version 2 of the PROXY protocol, which names the ' +
        'client (repeatable; needs --gateway)',
      (text, previous: readonly string[] = []) => [...previous, reading(parseIpRange)(text)],
    )
    .option(
      '--contrary [seed]',
      'wherever the contract leaves a choice, make a different one than docs/api-decisions.md, drawn by this seed ' +
        '(default: a random seed, printed)',
    )
    .option(
      '--choose <name=value>',
      'make this choice; docs/api-decisions.md lists them (repeatable; overrides --contrary)',
      (text, previous: readonly Alternative[]) => [...previous, reading(readChoice)(text)],
      [],
    )
    .action(async (flags: Flags, command: Command) => {
      for (const [name, flag] of Object.entries(GATEWAY_FLAGS)) {
        if (flags[name as keyof typeof GATEWAY_FLAGS] !== undefined && !flags.gateway) {
          command.error(`error: ${flag} needs --gateway`, { exitCode: 1 })
        }
      }
      const { apiKey, adminToken } = readEnvironment().emulator
      await serve({ ...flags, apiKey: flags.apiKey ?? apiKey, adminToken: flags.adminToken ?? adminToken })
    })
}

async function serve(flags: Flags): Promise<void> {
  // A large seed produces much garbage and few lasting objects. Without this limit, the young generation would grow to
  // 100 MiB and stay there.
  setFlagsFromString('--semi-space-growth-factor=1')
  // Before anything is printed: a reader of the output may send the signal at once.
  const signal = stopSignal()
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  const { contrary } = flags
  const seed = contrary === true ? systemRandom.hex(4) : contrary
  const choices = flags.choose.reduce(withAlternative, seed === undefined ? DECIDED : drawnBy(seed))
  const emulator = await startEmulator({ ...optionsFrom(flags), choices }).catch(refuseStart)
  if (emulator === undefined) return
  const lines = [`emulator listening on ${emulator.url}`]
  if (seed !== undefined) lines.push(`contrary choices drawn by the seed ${seed}: --contrary ${seed} draws them again`)
  if (choices !== DECIDED) lines.push(`choices: ${contraryOnes(choices).join(' ')}`)
  if (flags.apiKey === undefined) lines.push(`API key: ${emulator.apiKey}`)
  if (flags.admin && flags.adminToken === undefined) {
    lines.push(`admin surface: ${emulator.adminUrl} with the bearer token ${emulator.adminToken}`)
  }
  if (emulator.gateway !== undefined) {
    const { ssh, tls, dns } = emulator.gateway
    lines.push(`SSH gateway listening on ${ssh.host}:${ssh.port} with the host key ${ssh.hostKey}`)
    lines.push(`TLS edges listening on ${tls.host}:${tls.port}; GET /_emulator/listeners shows the others`)
    if (dns !== undefined) lines.push(`DNS of edges answered on ${dns.host}:${dns.port}`)
  }
  for (const line of lines) standardTerminals().out.print(line)
  await stopped
  await emulator.close()
}

/**
 * The user has to fix a data file or an address that cannot be used, so only the message is shown, without a stack
 * trace.
 */
function refuseStart(error: unknown): undefined {
  const reason = error instanceof StorageError ? `--data ${error.message}` : listenFailure(error)
  if (reason === undefined) throw error
  standardTerminals().err.print(`emulator: ${reason}`)
  process.exitCode = 1
}

/** System calls that fail where an address cannot be used: for TCP, and for UDP. */
const LISTENING: ReadonlySet<unknown> = new Set(['listen', 'bind'])

/** What to say of an address on which the emulator cannot listen; undefined for other errors. */
function listenFailure(error: unknown): string | undefined {
  if (!(error instanceof Error && 'syscall' in error && LISTENING.has(error.syscall))) return undefined
  return `${error.message}; name another address with --listen, --ssh-listen, --tls-listen or --dns-listen`
}

function optionsFrom(flags: Flags): EmulatorOptions {
  return {
    listen: flags.listen,
    data: flags.data,
    versionHeaders: flags.versionHeader,
    latencyMs: flags.latency,
    certSeconds: flags.certSeconds,
    serviceDomain: flags.serviceDomain,
    trustForwardedFor: flags.trustForwardedFor,
    admin: flags.admin,
    adminRemote: flags.adminRemote,
    ...(flags.apiKey === undefined ? {} : { apiKey: flags.apiKey }),
    ...(flags.adminToken === undefined ? {} : { adminToken: flags.adminToken }),
    ...(flags.rateLimit === undefined ? {} : { rateLimit: flags.rateLimit }),
    ...(flags.gateway ? { gateway: gatewayOptions(flags) } : {}),
  }
}

function gatewayOptions({ sshListen, tlsListen, edgeAddress, dnsListen, proxyFrom }: Flags): GatewayOptions {
  return {
    ...(sshListen === undefined ? {} : { sshListen }),
    ...(tlsListen === undefined ? {} : { tlsListen }),
    ...(edgeAddress === undefined ? {} : { edgeAddress }),
    ...(dnsListen === undefined ? {} : { dnsListen }),
    ...(proxyFrom === undefined ? {} : { proxies: proxyFrom }),
  }
}

/** Turns a reader's OptionError into commander's message about the flag. */
function reading<T>(read: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return read(text)
    } catch (error) {
      if (error instanceof OptionError) throw new InvalidArgumentError(error.message)
      throw error
    }
  }
}

/** Checks a flag whose text is passed on unchanged. */
function checked(read: (text: string) => unknown): (text: string) => string {
  const readChecked = reading(read)
  return (text) => {
    readChecked(text)
    return text
  }
}

function seconds(text: string): number {
  const value = Number(text)
  if (text === '' || !Number.isFinite(value) || value < 0) throw new OptionError(`seconds ${text}`, '5')
  return value
}

function collect(value: string, previous: string[]): string[] {
  return [...previous, value]
}
