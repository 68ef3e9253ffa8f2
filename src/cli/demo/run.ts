import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import type { EmulatorOptions } from '../../emulator/emulator-options.ts'
import { kinds } from '../../kinds/index.ts'
import { resourceTypeOf } from '../../managed/kinds-registry.ts'
import { systemClock } from '../../util/clock.ts'
import { systemRandom } from '../../util/random.ts'
import { withCluster } from '../cluster/ask-cluster.ts'
import { OPERATOR_NAMESPACE } from '../cluster/operator-lease.ts'
import type { Manifest } from '../manifests.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { ShownConnection } from '../ui/history.ts'
import { servedUntil } from '../ui-command.ts'
import { controllersStarted, type DemoCluster, DemoError, kubectl, openCluster } from './cluster.ts'
import { CulvertProcess } from './culvert-process.ts'
import { aimAtEmulator, customResources, readManifests, toYaml, withAgentKey } from './demo-manifests.ts'
import { followUntilReady } from './follow.ts'
import { guide } from './guide.ts'
import { createScreen, type Row, rowLine } from './state-table.ts'
import { Traffic } from './traffic.ts'

export interface DemoOptions {
  /** Exit as soon as all resources are Ready and traffic was seen. */
  readonly once: boolean
  readonly kubeconfig?: string | undefined
  /** How long the emulator takes to provision a certificate: long enough to be seen. */
  readonly certSeconds: number
  /** How long it may take from the apply until all resources are Ready. */
  readonly timeoutMs: number
  /** The program of this process. */
  readonly entryPoint: string
  readonly output: Terminal
}

const ROOT = new URL('../../../', import.meta.url)
const CRDS = fileURLToPath(new URL('crds', ROOT))
const QUICKSTART = fileURLToPath(new URL('examples/quickstart', ROOT))
const TRAFFIC = fileURLToPath(new URL('examples/traffic', ROOT))
const LOG_LINES = 15

/**
 * Starts a control plane, an emulator and an operator, applies the examples, and shows how their resources become
 * Ready and requests reach a page.
 *
 * @param interrupted called once the demo can stop in order; the signal is aborted when it should.
 * @returns the exit code: 0 when all resources became Ready and traffic was seen (even if the person stopped the demo
 * afterwards), else 1.
 * @throws DemoError
 */
export async function runDemo(options: DemoOptions, interrupted: () => AbortSignal): Promise<number> {
  const say = (line: string): void => options.output.write(`${line}\n`)
  await using cluster = await openCluster({
    onProgress: say,
    ...(options.kubeconfig === undefined ? {} : { kubeconfig: options.kubeconfig }),
  })
  const signal = interrupted()
  await using resources = new AsyncDisposableStack()
  const folder = resources.adopt(await mkdtemp(join(tmpdir(), 'culvert-demo-')), (path) =>
    rm(path, { recursive: true }),
  )
  const emulator = resources.adopt(await startEmulator(emulation(options)), (each) => each.close())
  say(`The emulator of the management API answers at ${emulator.url}`)

  await kubectl(cluster, ['apply', '--server-side', '-f', CRDS])
  await kubectl(cluster, ['wait', '--for=condition=Established', '--timeout=60s', '-f', CRDS])
  await makeOperatorNamespace(cluster)
  const operatorLog = join(folder, 'operator.log')
  const operator = resources.use(await startOperator(options, cluster, emulator, operatorLog))
  say(`The operator runs as process ${operator.pid}`)
  const operatorEnd = new AbortController()
  void operator.ended.then((reason) => operatorEnd.abort(reason))
  const stage = { options, cluster, emulator, folder, operatorLog, say }
  const code = await demonstrate(stage, AbortSignal.any([signal, operatorEnd.signal]))
  if (operatorEnd.signal.aborted) {
    const reason = String(operatorEnd.signal.reason)
    throw new DemoError('OPERATOR_ENDED', `The operator exited with ${reason}:\n${await tail(operatorLog)}`)
  }
  if (cluster.pids.length === 0) await removeExamples(stage)
  return code
}

/** Before the operator starts: it creates a Secret there as soon as it leads, and ends if it cannot. */
async function makeOperatorNamespace(cluster: DemoCluster): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: OPERATOR_NAMESPACE } }
  await kubectl(cluster, ['apply', '--server-side', '-f', '-'], toYaml([namespace]))
}

function startOperator(
  { entryPoint }: DemoOptions,
  cluster: DemoCluster,
  emulator: Emulator,
  logFile: string,
): Promise<CulvertProcess> {
  // In a cluster started here no other operator can run; in an existing one, a Lease keeps two operators apart.
  const alone = cluster.pids.length > 0 ? ['--no-leader-elect'] : []
  const args = [
    ...['--kubeconfig', cluster.kubeconfigPath, '--namespace', OPERATOR_NAMESPACE],
    ...['--allow-api-host', `http://${new URL(emulator.url).host}`],
    ...['--listen', '127.0.0.1:0', ...alone],
  ]
  return CulvertProcess.start({ entryPoint, command: 'operator', args, logFile })
}

function emulation({ certSeconds }: DemoOptions): EmulatorOptions {
  const gateway = { sshListen: '127.0.0.1:0', tlsListen: '127.0.0.1:0', log: () => undefined }
  return { certSeconds, gateway }
}

interface Stage {
  readonly options: DemoOptions
  readonly cluster: DemoCluster
  readonly emulator: Emulator
  readonly folder: string
  readonly operatorLog: string
  readonly say: (line: string) => void
}

/** @returns the exit code. */
async function demonstrate(stage: Stage, signal: AbortSignal): Promise<number> {
  const { options, cluster, emulator, say } = stage
  const started = performance.now()
  const keyFile = join(stage.folder, 'agent-key')
  const manifests = await examples(emulator, keyFile)
  await kubectl(cluster, ['apply', '--server-side', '-f', '-'], toYaml(manifests))
  say('Applied examples/quickstart and examples/traffic\n')
  const rows = await follow(stage, manifests, started, signal)
  const waiting = rows.filter(({ ready }) => !ready)
  if (waiting.length > 0) {
    if (!signal.aborted) await explain(stage, waiting)
    return 1
  }
  say(`\nAll ${rows.length} resources are Ready after ${((performance.now() - started) / 1000).toFixed(1)} s.`)
  await using traffic = await Traffic.open({ ...stage, ...options, keyFile, hostport: await hostportOf(stage) })
  await traffic.show()
  if (!options.once) {
    say(lookAround(stage, traffic.url))
    await Promise.all([showEdges(stage, signal), Promise.race([aborted(signal), controllersStarted(cluster, say)])])
    say('Stopping')
  }
  return 0
}

/** The manifests of the examples, with a new key for the agent, which is also written to a file. */
async function examples(emulator: Emulator, keyFile: string): Promise<readonly Manifest[]> {
  // Loaded here only: the library is large.
  const { newKeyPair } = await import('../../ssh/new-key.ts')
  const { privateKey, publicKey } = newKeyPair()
  await writeFile(keyFile, privateKey, { mode: 0o600 })
  const [account] = emulator.admin.seed({ accounts: [{ name: 'traffic' }] }).accounts
  if (account === undefined) throw new Error('a seed with one account makes one account')
  return [
    ...aimAtEmulator(await readManifests(QUICKSTART), emulator),
    ...aimAtEmulator(withAgentKey(await readManifests(TRAFFIC), publicKey), { url: emulator.url, ...account }),
  ]
}

/** Where clients reach the page. */
async function hostportOf({ cluster }: Stage): Promise<string> {
  const path = 'jsonpath={.status.hostports[0]}'
  return await kubectl(cluster, ['get', 'edges.culvert.dev', 'page', '--namespace', 'traffic', '--output', path])
}

function lookAround({ cluster, emulator, operatorLog }: Stage, pageUrl: string): string {
  const { kubeconfigPath, kubectlPath } = cluster
  const { url: emulatorUrl, apiKey, adminToken } = emulator
  return guide({ kubeconfigPath, kubectlPath, emulatorUrl, apiKey, adminToken, operatorLog, pageUrl })
}

/** Serves the page of `culvert ui` until the demo ends, with the emulator's connections. */
function showEdges({ cluster, emulator, options, say }: Stage, signal: AbortSignal): Promise<void> {
  const connections = (edge: string): readonly ShownConnection[] => {
    const all = emulator.admin.traffic().filter((entry) => entry.edge === edge)
    return all.map(({ time, source, hostport, verdict, rule, reason }) => {
      return { at: time, source, host: hostport ?? '', verdict: verdict ?? 'open', rule: rule ?? undefined, reason }
    })
  }
  const terminals = { out: options.output, err: options.output }
  const flags = { allNamespaces: true, release: 'culvert' }
  return withCluster({ kubeconfig: cluster.kubeconfigPath }, terminals, (opened) => {
    return servedUntil(signal, opened, { flags, connections }, (link) =>
      say(`Edges in a browser, with culvert ui (the link works once): ${link}\n`),
    )
  })
}

/** Cleans up an existing cluster while the emulator still answers: the deletions could not finish later. */
async function removeExamples({ cluster, say }: Stage): Promise<void> {
  say('Removing the examples from the cluster')
  const manifests = [...(await readManifests(QUICKSTART)), ...(await readManifests(TRAFFIC))]
  await kubectl(cluster, ['delete', '--ignore-not-found', '--timeout=60s', '-f', '-'], toYaml(manifests))
}

/** Shows the resources until all are Ready, the time is over, or the person stops the demo. */
async function follow(
  { options, cluster }: Stage,
  manifests: readonly Manifest[],
  started: number,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const resources = customResources(manifests)
  const screen = createScreen(options.output, resources.length)
  const used = new Set(resources.map(({ kind }) => kind))
  return await followUntilReady(
    {
      kubeconfig: cluster.kubeconfigPath,
      types: kinds.filter(({ definition }) => used.has(definition.kind)).map(resourceTypeOf),
      resources,
      clock: systemClock,
      random: systemRandom,
      onRows: (rows) => screen.show(rows, performance.now() - started),
    },
    AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]),
  )
}

async function explain({ options, operatorLog, say }: Stage, waiting: readonly Row[]): Promise<void> {
  say(`\nNot Ready within ${options.timeoutMs / 1000} s:`)
  for (const row of waiting) say(`  ${rowLine(row)}`)
  say(`\nThe end of the operator's log:\n${await tail(operatorLog)}`)
}

async function tail(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).trimEnd().split('\n').slice(-LOG_LINES).join('\n')
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
