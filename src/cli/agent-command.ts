import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { parseForwards, parseHostPort, type Target } from '../agent/forward.ts'
import { PinnedKeys } from '../agent/keys.ts'
import { runAgent } from '../agent/run-agent.ts'
import { packageVersion } from '../config.ts'
import { createLogger, type LogLevel } from '../util/logger.ts'
import { stopSignal } from './exit.ts'
import { collect, duration, positive } from './flags.ts'

interface Flags {
  readonly gateway: Target
  readonly hostKey: readonly string[]
  readonly key: string
  readonly user: string
  readonly forward: readonly string[]
  readonly forwardsFile?: string
  readonly keepalive: number
  readonly drain: number
  readonly giveUp?: number
  readonly terminationLog?: string
  readonly connections: number
  readonly listen: Target
  readonly logLevel: LogLevel
}

/** `culvert agent`: keeps tunnels to the SSH gateway until SIGTERM or SIGINT. */
export function agentCommand(): Command {
  return new Command('agent')
    .description('Carry connections from the SSH gateway of the service to targets, such as Services, until stopped.')
    .requiredOption('--gateway <host:port>', 'address of the SSH gateway', address)
    .requiredOption(
      '--host-key <key>',
      'host key of the gateway, such as "ssh-ed25519 AAAA…"; it must have one of those given (repeatable)',
      collect,
      [],
    )
    .requiredOption(
      '--key <file>',
      'private key of an SSH credential, without a passphrase; read again when it connects',
    )
    .option('--user <name>', 'user name at the gateway', 'culvert')
    .option(
      '--forward <bind=host:port>',
      'what to bind, and the target of its connections: labels (app=shop,version=1=shop.default.svc:80), ' +
        'a domain (shop.example.com:443=…) or an address (1.tcp.us.tunnel.example:12345=…) (repeatable)',
      collect,
      [],
    )
    .option(
      '--forwards-file <file>',
      'further forwards, one a line; empty lines and those that begin with # mean nothing',
    )
    .option('--keepalive <time>', 'silence after which the gateway is asked for a sign of life', duration, 8_000)
    .option('--drain <time>', 'how long open connections may go on after SIGTERM', duration, 30_000)
    .option(
      '--give-up <time>',
      'exit with code 1 when the gateway has refused the agent for this long (default: never)',
      duration,
    )
    .option('--termination-log <file>', 'where the reason is written then')
    .option(
      '--connections <number>',
      'connections at one time; each may take 256 KiB of memory, and all together 64 MiB more',
      positive,
      1_000,
    )
    .option('--listen <address>', 'address of /healthz, /readyz and /metrics; port 0 picks a free one', listen, {
      host: '127.0.0.1',
      port: 8080,
    })
    .addOption(new Option('--log-level <level>').choices(['debug', 'info', 'warn', 'error', 'silent']).default('info'))
    .action(async (flags: Flags, command: Command) => {
      const refuse = (what: string): never => command.error(`error: ${what}`, { exitCode: 1 })
      const forwards = parseForwards([...flags.forward, ...linesOf(flags.forwardsFile, refuse)])
      if (typeof forwards === 'string') return refuse(`--forward: ${forwards}`)
      const hostKeys = PinnedKeys.parse(flags.hostKey)
      if (typeof hostKeys === 'string') return refuse(`--host-key: ${hostKeys}`)
      const options = {
        gateway: flags.gateway,
        hostKeys,
        user: flags.user,
        ident: `Culvert_${packageVersion()}`,
        forwards,
        keepaliveMs: flags.keepalive,
        keyFile: flags.key,
        drainMs: flags.drain,
        giveUpMs: flags.giveUp,
        terminationLog: flags.terminationLog,
        listen: flags.listen,
        mostConnections: flags.connections,
        logger: createLogger(flags.logLevel),
      }
      process.exitCode = await runAgent(options, stopSignal())
    })
}

function linesOf(file: string | undefined, refuse: (what: string) => never): readonly string[] {
  if (file === undefined) return []
  try {
    const lines = readFileSync(file, 'utf8').split('\n')
    return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  } catch (error) {
    return refuse(`--forwards-file: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function address(text: string): Target {
  const parsed = parseHostPort(text)
  if (parsed === undefined) throw new InvalidArgumentError('write HOST:PORT, such as ssh.tunnel.example:22')
  return parsed
}

/** Port 0 is any free port. */
function listen(text: string): Target {
  return text.endsWith(':0') ? { ...address(`${text.slice(0, -1)}1`), port: 0 } : address(text)
}
