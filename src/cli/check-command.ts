import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { Command, InvalidArgumentError, Option } from 'commander'
import { ApiError } from '../api/errors.ts'
import { type Environment, readEnvironment } from '../config.ts'
import { isCertificate } from '../judging/client-certificate.ts'
import { judge, otherReadings, verdictOf } from '../judging/judge.ts'
import { type Choices, DECIDED, READINGS, type Step } from '../judging/world.ts'
import { kinds } from '../kinds/index.ts'
import { systemClock } from '../util/clock.ts'
import { type AccountFlags, AccountFlagsError, accountOptions } from './account-flags.ts'
import { readWorld } from './check/account-world.ts'
import { type Connection, type Expectation, readExpectations } from './check/expectations.ts'
import {
  type OpenedView,
  type Subject,
  type ViewFlags,
  viewOfFlags,
  viewOfManifests,
  viewsOfCluster,
  withKey,
} from './check/open-account.ts'
import { type ClusterFlags, clusterOptions, withCluster } from './cluster/ask-cluster.ts'
import { CommandError } from './cluster/command-error.ts'
import { operatorOptions } from './cluster/operator-lease.ts'
import { parseResource } from './cluster/resource-argument.ts'
import { collect, type OutputFlags, outputOption } from './flags.ts'
import { ManifestError } from './manifests.ts'
import { PlanError } from './plan/scene.ts'
import { type Style, wrap } from './terminal/line.ts'
import { tableLines } from './terminal/table.ts'
import { standardTerminals, type Terminal, type Terminals } from './terminal/terminal.ts'

/** Flags of `culvert check`. */
export interface CheckFlags extends ViewFlags, ClusterFlags, OutputFlags, AccountFlags {
  readonly from?: string
  readonly tls?: string
  readonly sni?: string
  readonly cert?: string
  readonly expect?: string
  readonly choose: Choices
}

/** Exit codes of `culvert check`. */
const EXIT = { admitted: 0, error: 1, refused: 2, unknown: 3 } as const

/** `culvert check`: whether a connection to an edge is admitted, and what decides. Writes nothing anywhere. */
export function checkCommand(): Command {
  const command = operatorOptions(outputOption(clusterOptions(new Command('check'))))
    .description(
      'Show whether a connection to an edge is admitted, and which rule decides, step by step. Opens no connection and ' +
        'changes nothing: it reads the account if its key may be read, or else what resources show of it.',
    )
    .argument('[edge]', 'Edge as KIND/NAME, or host:port')
    .option('--from <address>', 'IP address of the client', address)
    .addOption(
      new Option('--tls <version>', 'highest version of TLS that the client speaks (default: any)').choices(VERSIONS),
    )
    .option('--sni <name>', 'host that the client names in the handshake (default: that of the edge)')
    .option('--cert <file>', "the client's certificate in PEM, with those that link it to its authority")
    .option('-f, --filename <path>', 'check these manifests as if they were applied (repeatable)', collect, [])
    .option(
      '--manifests-alone',
      'with -f: as if the account held nothing else, and groups had tunnels and domains certificates',
      false,
    )
    .option('--expect <file>', 'check every connection in this file instead, and what is to become of it')
    .option('--api-key-file <file>', 'file with the API key')
    .addOption(
      new Option(
        '--choose <name=value>',
        'how the service reads what its documentation leaves open, such as several-policies=each (repeatable)',
      )
        .argParser(chosen)
        .default(DECIDED, 'as docs/api-decisions.md decides'),
    )
    .addHelpText('after', HELP)
  for (const option of accountOptions()) command.addOption(option)
  return command.action(async (edge: string | undefined, flags: CheckFlags) => {
    process.exitCode = await runCheck(edge, flags, { environment: readEnvironment(), ...standardTerminals() })
  })
}

const VERSIONS = ['1.0', '1.1', '1.2', '1.3']

const HELP = `
Exit code: 0 admitted, 2 refused, whatever is unknown, 3 something that decides is unknown, 1 an error. With --expect:
0 as expected, 2 not as expected, 3 unknown.

Examples:
  culvert check edge/shop --from 203.0.113.7
  culvert check shop.example.com:443 --from 203.0.113.7 --tls 1.2 --cert client.pem
  culvert check -f manifests/ --manifests-alone --expect connections.yaml`

function address(text: string): string {
  if (isIP(text) === 0) throw new InvalidArgumentError('must be an IPv4 or IPv6 address, such as 203.0.113.7')
  return text
}

function chosen(text: string, previous: Choices): Choices {
  const [name = '', value] = text.split('=')
  const values: readonly string[] | undefined = Object.entries(READINGS).find(([each]) => each === name)?.[1]
  if (values === undefined)
    throw new InvalidArgumentError(`must be NAME=VALUE, with NAME one of ${Object.keys(READINGS).join(', ')}`)
  if (!values.includes(value ?? '')) throw new InvalidArgumentError(`${name} must be one of ${values.join(', ')}`)
  return { ...previous, [name]: value }
}

/** What a check needs besides its flags. */
interface Surroundings extends Terminals {
  readonly environment: Environment
}

/** @returns the exit code of the process */
export async function runCheck(edge: string | undefined, given: CheckFlags, around: Surroundings): Promise<number> {
  try {
    const flags = await withKey(given)
    if (flags.expect !== undefined) return await checkExpectations(flags.expect, flags, around)
    if (edge === undefined || flags.from === undefined) {
      throw new CommandError(
        'BadArgument',
        'name an edge and an address, or a file with --expect',
        'culvert check edge/shop --from 203.0.113.7',
      )
    }
    const { from, tls, sni, cert } = flags
    const connection = { to: edge, from, tls, sni, cert }
    return await checkAll([connection], flags, around, ([found]) => {
      if (found === undefined) throw new Error('one connection was checked')
      if (flags.output === 'json') around.out.json(jsonOf(found))
      else print(found, around.out)
      return EXIT[found.verdict]
    })
  } catch (error) {
    if (!isExpected(error)) throw error
    for (const line of error instanceof CommandError ? error.lines : [`error: ${error.message}`]) around.err.print(line)
    return EXIT.error
  }
}

function isExpected(error: unknown): error is Error {
  return [AccountFlagsError, ApiError, CommandError, ManifestError, PlanError].some((type) => error instanceof type)
}

/** A connection and what becomes of it. */
interface Checked {
  readonly connection: Connection
  readonly verdict: ReturnType<typeof verdictOf>
  readonly steps: readonly Step[]
  /** Readings of the contract under which it is otherwise: `several-policies=each`. */
  readonly otherwise: readonly string[]
}

async function checkAll<T>(
  connections: readonly Connection[],
  flags: CheckFlags,
  around: Surroundings,
  use: (checked: readonly Checked[]) => T,
): Promise<T> {
  const { environment } = around
  const checkIn = async (namespace: string, viewOf: (subject: Subject) => Promise<OpenedView>): Promise<T> => {
    const views = new Set<OpenedView>()
    try {
      const checked: Checked[] = []
      for (const connection of connections) {
        const subject = subjectOf(connection.to, namespace)
        const opened = await viewOf(subject)
        views.add(opened)
        checked.push(await checkOne(connection, { opened, subject, choices: flags.choose }))
      }
      return use(checked)
    } finally {
      for (const opened of views) await opened.close()
    }
  }
  const { namespace = 'default', filename, kubeconfig, context } = flags
  const isOfCluster = kubeconfig !== undefined || context !== undefined
  const fixed =
    filename.length > 0
      ? await viewOfManifests(flags, environment, namespace)
      : isOfCluster
        ? undefined
        : viewOfFlags(flags, environment)
  if (fixed !== undefined) return checkIn(namespace, () => Promise.resolve(fixed))
  return withCluster(flags, around, async (cluster) => {
    return checkIn(cluster.namespace, await viewsOfCluster(cluster, environment, flags))
  })
}

async function checkOne(
  connection: Connection,
  { opened, subject, choices }: { readonly opened: OpenedView; readonly subject: Subject; readonly choices: Choices },
): Promise<Checked> {
  const { from, tls, sni, cert } = connection
  const certificate = cert === undefined ? undefined : await readCertificate(cert)
  const world = await readWorld(opened.view, opened.edgeOf(subject, sni?.toLowerCase()))
  const asked = { source: from, version: tls, certificate, at: systemClock.now() }
  const steps = judge(world, asked, choices)
  return { connection, verdict: verdictOf(steps), steps, otherwise: otherReadings(world, asked, choices) }
}

async function readCertificate(path: string): Promise<string> {
  const refuse = (why: string): never => {
    throw new CommandError('BadArgument', `--cert: ${path} ${why}`)
  }
  const pem = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) =>
    refuse(`cannot be read (${error.code})`),
  )
  return isCertificate(pem) ? pem : refuse('has no certificate in PEM')
}

function subjectOf(text: string, namespace: string): Subject {
  const hostport = /^(?<host>[^/\s]+):(?<port>\d{1,5})$/.exec(text)?.groups
  if (hostport !== undefined) return { host: hostport.host?.toLowerCase() ?? '', port: Number(hostport.port) }
  const resource = parseResource([text], { kinds, namespace })
  if (resource.descriptor.definition.kind === 'Edge') return resource
  throw new CommandError('BadArgument', `${text}: only an Edge takes connections: name one, or host:port`)
}

const STYLES: Readonly<Record<Step['outcome'], Style>> = {
  passes: 'green',
  refuses: 'red',
  unknown: 'yellow',
  'not-reached': 'dim',
}
const VERDICT_STYLES = { admitted: 'green', refused: 'red', unknown: 'yellow' } as const

function print({ connection, verdict, steps, otherwise }: Checked, out: Terminal): void {
  const { from, to } = connection
  out.print([{ text: verdict.toUpperCase(), style: VERDICT_STYLES[verdict] }, ` ${from} to ${to}`])
  const columns = [{ heading: 'STEP' }, { heading: 'RESULT' }, { heading: 'REASON', wraps: true }]
  const cells = steps.map(({ kind, outcome, text }) => [
    { text: kind },
    { text: outcome, style: STYLES[outcome] },
    { text },
  ])
  for (const line of tableLines(columns, cells, out.width)) out.print(line)
  for (const { kind, details = [] } of steps) {
    if (details.length > 0) out.print(`${kind}:`)
    for (const detail of details) out.print(`  ${detail}`)
  }
  const deciding = steps.find(({ outcome }) => outcome === 'refuses')
  if (otherwise.length > 0) {
    for (const line of wrap(
      `A service that reads its documentation otherwise may decide otherwise: ${otherwise.join(', ')}.`,
      out.width,
    ))
      out.print(line)
  }
  if (deciding?.source?.command === undefined) return
  out.print('')
  out.print(['  ', { text: deciding.source.command, style: 'bold' }])
}

/** docs/cli/check.schema.json */
function jsonOf({ connection, verdict, steps, otherwise }: Checked): Readonly<Record<string, unknown>> {
  return { format: 1, ...connection, verdict, steps, otherReadings: otherwise }
}

async function checkExpectations(path: string, flags: CheckFlags, around: Surroundings): Promise<number> {
  const expectations = await readExpectations(path)
  return checkAll(expectations, flags, around, (checked) => {
    const results = checked.map((found, index) => ({ ...found, ...resultOf(found, expectations[index]) }))
    const { out } = around
    if (flags.output === 'json')
      out.json({
        expectations: results.map((each) => ({
          ...jsonOf(each),
          expected: each.expected,
          line: each.line,
          result: each.result,
        })),
      })
    else {
      for (const { connection, result, line, reason } of results) {
        if (result === 'met') continue
        const text = `${path}:${line} ${connection.from} to ${connection.to}: ${reason}`
        for (const each of wrap(text, out.width)) out.print(each)
      }
      const count = (wanted: string): number => results.filter(({ result }) => result === wanted).length
      out.print(`${count('met')} as expected, ${count('unmet')} not as expected, ${count('unknown')} unknown`)
    }
    if (results.some(({ result }) => result === 'unmet')) return EXIT.refused
    return results.some(({ result }) => result === 'unknown') ? EXIT.unknown : EXIT.admitted
  })
}

function resultOf({ verdict, steps }: Checked, expectation: Expectation | undefined) {
  if (expectation === undefined) throw new Error('every connection has an expectation')
  const { expect: expected, by, line } = expectation
  const deciding = steps.find(({ outcome }) => outcome === (verdict === 'refused' ? 'refuses' : 'unknown'))
  const said = deciding === undefined ? verdict : `${verdict} by ${deciding.kind}: ${deciding.text}`
  const isMet = verdict === expected && (by === undefined || deciding?.kind === by)
  const result = isMet ? 'met' : verdict === 'unknown' ? 'unknown' : 'unmet'
  return {
    expected,
    line,
    result,
    reason: `expected ${expected}${by === undefined ? '' : ` by ${by}`}, ${said}`,
  } as const
}
