import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCheck } from '../../../src/cli/check-command.ts'
import type { Cluster } from '../../../src/cli/cluster/ask-cluster.ts'
import { commands } from '../../../src/cli/commands.ts'
import { completionScript } from '../../../src/cli/completion-command.ts'
import { runDoctor } from '../../../src/cli/doctor-command.ts'
import { runEvents } from '../../../src/cli/events-command.ts'
import { runExport } from '../../../src/cli/export-command.ts'
import { runGet } from '../../../src/cli/get-command.ts'
import { runGraph } from '../../../src/cli/graph-command.ts'
import { runOrphans } from '../../../src/cli/orphans-command.ts'
import { runPlan } from '../../../src/cli/plan-command.ts'
import type { Verb } from '../../../src/cli/requests/request.ts'
import { runRequests } from '../../../src/cli/requests-command.ts'
import { runSessionAction } from '../../../src/cli/sessions/action.ts'
import { runSessions } from '../../../src/cli/sessions/list.ts'
import { wrap } from '../../../src/cli/terminal/line.ts'
import type { Terminals } from '../../../src/cli/terminal/terminal.ts'
import { runTree } from '../../../src/cli/tree-command.ts'
import { runWhy } from '../../../src/cli/why-command.ts'
import { readEnvironment } from '../../../src/config.ts'
import { DECIDED } from '../../../src/judging/world.ts'
import { capturedTerminals } from '../../builders/captured-text.ts'
import { completedInBash } from '../../builders/completed.ts'
import { startNameServer } from '../../builders/name-server.ts'
import { ask } from '../support/ask.ts'
import { inTerminal } from '../support/terminal.ts'
import { until } from '../support/wait.ts'
import { World } from '../support/world.ts'

const SESSIONS = new URL('../../../docs/cli/sessions/', import.meta.url)
const PULL_REQUEST = fileURLToPath(new URL('../../fixtures/cli/pull-request.yaml', import.meta.url))
const WIDTHS = [80, 160] as const

/** As long as the names of the namespaces of tests, so that lines break at the same places. */
const NAMESPACE = 'shop-staging'
/** The ages in texts are these two hours, however long the test takes. */
const LATER_MS = 2.5 * 3_600_000

let world: World

/** A shop whose restriction has a rule of its own, a canary that waits, and a group that no agent serves. */
beforeAll(async () => {
  world = await World.open({ leaderElect: true, account: { mirrorSessions: { enabled: true, interval: '1s' } } })
  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow', description: 'VPN' }] })
  await world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } })
  const ipRestriction = { ipPolicyRefs: [{ name: 'office' }] }
  await world.apply('Edge', 'shop', { protocol: 'TLS', backend: { name: 'web' }, ipRestriction })
  await world.apply('Backend', 'canary', { type: 'Failover', failover: { backendRefs: [{ name: 'next' }] } })
  await world.apply('Edge', 'beta', { protocol: 'TLS', backend: { name: 'canary' } })
  await world.ready('Edge', 'shop')
  await world.reason('Backend', 'canary', 'Synced', 'ReferenceNotReady')
  await world.reason('Edge', 'beta', 'Synced', 'ReferenceNotReady')
})
afterAll(() => world[Symbol.asyncDispose]())

const fixed = { output: 'text', release: 'culvert', allNamespaces: false } as const

/** What a command prints on a terminal of this width. */
type Run = (width: number) => Promise<readonly string[]>

function asked(run: (cluster: Cluster) => Promise<number>): Run {
  return async (width) => (await ask(world, run, width)).lines
}

function askedLater(run: (cluster: Cluster) => Promise<number>): Run {
  return asked((cluster) => {
    const later = { now: () => cluster.clock.now() + LATER_MS, monotonic: () => cluster.clock.monotonic() }
    return run({ ...cluster, clock: { ...cluster.clock, ...later } })
  })
}

function requested(verb: Verb): Run {
  return asked((cluster) => runRequests(cluster, verb, ['backend/web'], { wait: false, timeout: 0 }))
}

async function printed(width: number, run: (terminals: Terminals) => Promise<number>): Promise<string> {
  const terminals = capturedTerminals({ columns: width })
  await run(terminals)
  const { output, errors } = terminals.printed()
  return `${output}${errors}`.trimEnd()
}

const account = () => ({ baseUrl: world.emulator.url, apiKey: world.emulator.apiKey })

function planned(output: 'text' | 'markdown', width: number): Promise<string> {
  const { namespace, operatorNamespace } = world
  const flags = { ...account(), filename: [PULL_REQUEST], namespace, operatorNamespace, prune: false, output }
  return printed(width, (terminals) => runPlan(flags, readEnvironment(), { input: [], ...terminals }))
}

/** Commands with what they print, in the order of a session. */
type Session = readonly (readonly [command: string | ((width: number) => string), run: Run])[]

const whole = (print: (width: number) => Promise<string>): Run => {
  return async (width) => (await print(width)).split('\n')
}

/** What bash offers for these words when Tab is pressed. */
function completed(...words: readonly string[]): Run {
  return async (width) => {
    const offered = await completedInBash(await completionScript('bash', commands), ['culvert', ...words])
    return wrap(offered.join('  '), width)
  }
}

/** In a terminal of its own, since the command asks. */
const approved: Run = async (width) => {
  await world.reason('Backend', colour(width), 'Synced', 'AwaitingApproval')
  const args = ['approve', `backend/${colour(width)}`, '-n', world.namespace]
  const typing = { after: '[y/N]', keys: 'y\n' }
  const { lines } = await inTerminal(args, { columns: width, env: { KUBECONFIG: world.kubeconfig }, typing })
  return lines
}

/** One agent that is connected, and shown. */
async function connected(): Promise<void> {
  if ((await world.list('TunnelSession')).length > 0) return
  const { body } = await world.api.post('/credentials', {})
  const place = { os: 'linux', region: 'eu', ip: '198.51.100.7' }
  world.emulator.admin.connectAgent({ token: String(body.token), ...place })
  await until('its session is shown', async () => {
    return (await world.list('TunnelSession')).some(({ status }) => status?.startedAt !== undefined)
  })
}

/** A connection to an Edge that listens, and shifts between two groups without agents. */
function checked(from: string): Run {
  return async (width) => {
    if ((await world.get('Edge', 'web')) === undefined) {
      await world.apply('ReservedDomain', 'web', { domain: 'web.tunnel.example' })
      await world.apply('Backend', 'next', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'next' } } })
      const backendRefs = [
        { name: 'web', weight: 90 },
        { name: 'next', weight: 10 },
      ]
      await world.apply('Backend', 'shift', { type: 'Weighted', weighted: { backendRefs } })
      await world.apply('Edge', 'web', {
        protocol: 'TLS',
        hostports: [{ type: 'ReservedDomain', reservedDomainRef: { name: 'web' }, port: 443 }],
        backend: { name: 'shift' },
        ipRestriction: { ipPolicyRefs: [{ name: 'office' }] },
      })
      await world.ready('Edge', 'web')
    }
    const { kubeconfig, namespace, operatorNamespace } = world
    const flags = {
      kubeconfig,
      namespace,
      operatorNamespace,
      filename: [],
      manifestsAlone: false,
      choose: DECIDED,
      from,
    }
    const output = await printed(width, (terminals) => {
      return runCheck('edge/web', { ...fixed, ...flags }, { environment: readEnvironment({}), ...terminals })
    })
    return output.split('\n')
  }
}

/** A Backend for each width: what was approved waits no more. */
const colour = (width: number): string => (width === WIDTHS[0] ? 'green' : 'blue')

const sessions: Readonly<Record<string, Session>> = {
  plan: [['culvert plan -f pull-request.yaml -n shop-staging', whole((width) => planned('text', width))]],
  export: [
    [
      'culvert export --kind IPPolicy --kind Edge -n shop-staging',
      whole((width) => {
        const flags = { ...account(), kind: ['IPPolicy', 'Edge'], id: [], namespace: world.namespace }
        return printed(width, (terminals) => runExport(flags, readEnvironment(), terminals))
      }),
    ],
  ],
  why: [
    ['culvert why edge/beta', askedLater((cluster) => runWhy(cluster, ['edge/beta'], { ...fixed, release: 'none' }))],
    ['culvert why edge/shop', askedLater((cluster) => runWhy(cluster, ['edge/shop'], fixed))],
  ],
  get: [
    ['culvert get', askedLater((cluster) => runGet(cluster, [], { ...fixed, notReady: false }))],
    [
      'culvert get edges --not-ready',
      askedLater((cluster) => runGet(cluster, ['edges'], { ...fixed, notReady: true })),
    ],
  ],
  tree: [
    ['culvert tree', asked((cluster) => runTree(cluster, [], { ...fixed, reverse: false }))],
    [
      'culvert tree ippolicy/office --reverse',
      asked((cluster) => runTree(cluster, ['ippolicy/office'], { ...fixed, reverse: true })),
    ],
  ],
  graph: [
    [
      'culvert graph edge/shop',
      asked((cluster) => runGraph(cluster, ['edge/shop'], { ...fixed, output: 'mermaid', reverse: false })),
    ],
  ],
  doctor: [
    [
      'culvert doctor',
      async (width) => {
        await using names = await startNameServer()
        const { operatorNamespace } = world
        return asked((cluster) => runDoctor(cluster, { ...fixed, operatorNamespace, dnsServer: [names.address] }))(
          width,
        )
      },
    ],
  ],
  requests: [
    ['culvert pause backend/web', requested('pause')],
    ['culvert resume backend/web', requested('resume')],
    ['culvert reconcile backend/web', requested('reconcile')],
  ],
  events: [
    ['culvert events ippolicy/office', asked((cluster) => runEvents(cluster, ['ippolicy/office'], fixed))],
    [
      'culvert events backend/canary --since 10m',
      asked((cluster) => runEvents(cluster, ['backend/canary'], { ...fixed, since: 600_000 })),
    ],
  ],
  completion: [
    ['source <(culvert completion bash)', async () => []],
    ['culvert re<Tab>', completed('re')],
    ['culvert why edge/shop --<Tab>', completed('why', 'edge/shop', '--')],
    ['culvert tree ip<Tab>', completed('tree', 'ip')],
  ],
  other: [
    ['culvert sessions list', asked((cluster) => runSessions(cluster, fixed))],
    [
      'culvert orphans',
      asked((cluster) => {
        const { operatorNamespace } = world
        return runOrphans(cluster, { ...fixed, operatorNamespace, delete: false, yes: false })
      }),
    ],
  ],
  // These come last, since they add a domain, an agent, and Backends.
  check: [
    ['culvert check edge/web --from 10.1.2.3', checked('10.1.2.3')],
    ['culvert check edge/web --from 203.0.113.7', checked('203.0.113.7')],
  ],
  agents: [
    [
      'culvert sessions list',
      async (width) => {
        await connected()
        return await askedLater((cluster) => runSessions(cluster, fixed))(width)
      },
    ],
    [
      'culvert sessions restart -l culvert.dev/os=linux --yes',
      askedLater((cluster) => {
        const selected = { selector: 'culvert.dev/os=linux', yes: true, ttl: '1h', wait: false, timeout: 0 }
        return runSessionAction(cluster, 'restart', [], selected)
      }),
    ],
  ],
  approve: [
    [
      (width) => `kubectl apply -f ${colour(width)}.yaml`,
      async (width) => {
        const tunnelGroup = { labels: { app: colour(width) } }
        await world.apply('Backend', colour(width), { managementPolicy: 'Plan', type: 'TunnelGroup', tunnelGroup })
        return [`backend.culvert.dev/${colour(width)} created`]
      },
    ],
    [(width) => `culvert approve backend/${colour(width)}`, approved],
  ],
}

// One after the other: they change one world.
describe('the recorded session', { concurrent: false }, () => {
  for (const [name, session] of Object.entries(sessions)) {
    for (const width of WIDTHS) {
      test(`of ${name} at ${width} columns is what the commands print`, async () => {
        const parts: string[] = []
        for (const [command, run] of session) {
          const typed = typeof command === 'string' ? command : command(width)
          parts.push([`$ ${typed}`, ...(await run(width))].join('\n'))
        }
        await expectRecorded(`${name}-${width}.txt`, `${steady(parts.join('\n\n'))}\n`)
      })
    }
  }

  test('of a plan for a pull request is what the plan says in Markdown', async () => {
    await expectRecorded('pull-request.md', `${steady(await planned('markdown', WIDTHS[1]))}\n`)
  })
})

/** What differs from run to run, in as many characters. */
function steady(printedText: string): string {
  const ids = new Map<string, string>()
  return (
    printedText
      .replaceAll(world.namespace, NAMESPACE)
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '2026-11-24T10:00:00Z')
      .replaceAll(/\b(ts|restart)-[0-9a-f]{8,}/g, (name, start: string) => start.padEnd(name.length, '-0a1b2c3d'))
      // An id that a narrow table has cut.
      .replaceAll(
        /\b([a-z]+_)([0-9A-Za-z]{8,})…/g,
        (_id, prefix: string, rest: string) => `${prefix}${'0'.repeat(rest.length)}…`,
      )
      .replaceAll(/\b([a-z]+)_([0-9A-Za-z]{16,})\b/g, (id, prefix: string, rest: string) => {
        const known = ids.get(id) ?? `${prefix}_${'0'.repeat(rest.length - 2)}${String(ids.size + 1).padStart(2, '0')}`
        ids.set(id, known)
        return known
      })
  )
}

/** With CULVERT_WRITE_SESSIONS=1 it is written again: look at it as a user would. */
async function expectRecorded(file: string, session: string): Promise<void> {
  const path = fileURLToPath(new URL(file, SESSIONS))
  if (process.env.CULVERT_WRITE_SESSIONS === '1') {
    await mkdir(SESSIONS, { recursive: true })
    await writeFile(path, session)
  }
  expect(session).toBe(await readFile(path, 'utf8'))
}
