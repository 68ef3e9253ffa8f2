import { Command, Option } from 'commander'
import { ApiError } from '../api/errors.ts'
import { type Environment, readEnvironment } from '../config.ts'
import { kinds } from '../kinds/index.ts'
import { createKubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/kube-error.ts'
import { loadKubeConnection } from '../kube/load-config.ts'
import type { SessionConfig } from '../managed/accounts/session.ts'
import { KindsRegistry } from '../managed/kinds-registry.ts'
import { systemClock } from '../util/clock.ts'
import { createLogger } from '../util/logger.ts'
import { counted } from '../util/printable.ts'
import { systemRandom } from '../util/random.ts'
import { openAccount, patientReader } from './account-client.ts'
import {
  type AccountFlags,
  AccountFlagsError,
  accountFromFlags,
  accountOptions,
  LIST_TIMEOUT_MS,
} from './account-flags.ts'
import { OPERATOR_NAMESPACE } from './cluster/operator-lease.ts'
import { collect } from './flags.ts'
import { buildKustomization, type ManifestAt, ManifestError, parseManifestsAt, readManifestsAt } from './manifests.ts'
import { accountNamed, configOf, type LiveCluster, readCluster } from './plan/live-cluster.ts'
import { makePlan, type Plan } from './plan/make-plan.ts'
import { planJson, planMarkdown, planText } from './plan/render-plan.ts'
import { PlanError } from './plan/scene.ts'
import { showProgress } from './progress.ts'
import { standardTerminals, type Terminal, type Terminals } from './terminal/terminal.ts'

const registry = new KindsRegistry(kinds)

type Form = 'text' | 'json' | 'markdown'

interface Flags extends AccountFlags {
  readonly filename: readonly string[]
  readonly namespace: string
  readonly installation?: string
  readonly kustomize?: string
  readonly kubeconfig?: string
  readonly context?: string
  readonly account?: string
  readonly operatorNamespace: string
  readonly prune: boolean
  readonly output: Form
}

/** Exit codes of `culvert plan`. */
const EXIT = { nothing: 0, error: 1, changes: 2, marked: 3 } as const

/** Streams of a command. */
interface Streams extends Terminals {
  readonly input: AsyncIterable<string | Buffer> | Iterable<string>
}

/** `culvert plan`: what applying manifests would do to the account. Writes nothing anywhere. */
export function planCommand(): Command {
  const command = new Command('plan')
    .description('Show what applying these manifests would do to the account, request by request. Changes nothing.')
    .option('-f, --filename <path>', 'file or folder with manifests, or - for standard input (repeatable)', collect, [])
    .option('-k, --kustomize <folder>', 'folder to build with kubectl kustomize')
    .option('--kubeconfig <file>', 'plan for this cluster: references lead to what is there too (default: no cluster)')
    .option('--context <name>', 'plan for the cluster of this context of the kubeconfig')
    .option('--account <name>', 'the account of the cluster to plan for, such as ClusterAccount/shared')
    .option('--prune', 'delete what the cluster has in the namespaces of the manifests, and these lack', false)
    .option('--operator-namespace <name>', 'namespace of the operator', OPERATOR_NAMESPACE)
    .option('-n, --namespace <name>', 'namespace of manifests that name none', 'default')
    .option(
      '--installation <id>',
      'id of the Culvert that will apply them (default: as the marks of their objects say)',
    )
    .addOption(
      new Option('-o, --output <form>', 'form of the plan').choices(['text', 'json', 'markdown']).default('text'),
    )
    .addHelpText('after', HELP)
  for (const option of accountOptions()) command.addOption(option)
  return command.action(async (flags: Flags) => {
    process.exitCode = await runPlan(flags, readEnvironment(), { input: process.stdin, ...standardTerminals() })
  })
}

const HELP = `
Exit code: 0 nothing to do, 2 changes, 3 changes to look at first (something is deleted, replaced or opened, a policy
leaves an edge or may do so, a restriction could lock out), 1 an error.

Examples:
  CULVERT_API_KEY=… culvert plan -f manifests/ --base-url https://api.example.com
  kustomize build . | culvert plan -f - --output markdown`

/** @returns the exit code */
export async function runPlan(flags: Flags, environment: Environment, streams: Streams): Promise<number> {
  const progress = showProgress(streams.err)
  try {
    const manifests = await readAll(flags, streams.input)
    for (const warning of manifests.flatMap(({ warnings }) => warnings)) streams.err.print(`warning: ${warning}`)
    const source = await sourceOf(flags, environment, { manifests, progress: progress.report })
    const reader = openAccount(source.config, {
      clock: systemClock,
      proxies: environment.proxies,
      timeoutMs: LIST_TIMEOUT_MS,
    })
    try {
      const plan = await makePlan({
        config: source.config,
        live: source.live,
        kinds: registry,
        manifests,
        namespace: flags.namespace,
        account: flags.account,
        prune: flags.prune,
        operatorNamespace: flags.operatorNamespace,
        installation: flags.installation,
        reader: patientReader(reader, systemClock, progress.report),
        logger: createLogger('silent'),
        progress: progress.report,
      })
      progress.end()
      show(plan, flags.output, streams.out)
      for (const line of remarks(plan)) streams.err.print(line)
      return exitOf(plan)
    } finally {
      await Promise.all([reader.close(), source.close()])
    }
  } catch (error) {
    progress.end()
    if (!isExpected(error)) throw error
    streams.err.print(error.message)
    return EXIT.error
  }
}

/** What the plan is made for. */
interface Source {
  readonly config: SessionConfig
  readonly live: LiveCluster | undefined
  /** Closes the connections to the cluster. */
  close(): Promise<void>
}

/** The account that flags or environment name, or else that of the cluster. */
async function sourceOf(
  flags: Flags,
  environment: Environment,
  { manifests, progress }: { readonly manifests: readonly ManifestAt[]; readonly progress: (text: string) => void },
): Promise<Source> {
  const { kubeconfig, context, account, prune, namespace, operatorNamespace } = flags
  const config = accountFromFlags(flags, environment)
  if (kubeconfig === undefined && context === undefined && (config !== undefined || account === undefined)) {
    if (prune) throw new PlanError('--prune compares with a cluster: name it with --kubeconfig or --context')
    if (config === undefined) {
      throw new AccountFlagsError(
        'no account is given: set --base-url and CULVERT_API_KEY, or --account for one of the cluster',
      )
    }
    return { config, live: undefined, close: () => Promise.resolve() }
  }
  const kube = createKubeClient({
    connection: loadKubeConnection({ ...environment, kubeconfig, context }),
    clock: systemClock,
    random: systemRandom,
  })
  progress('reading the cluster')
  try {
    const namespaces = [...new Set(manifests.map(({ manifest }) => manifest.metadata.namespace ?? namespace))]
    const live = await readCluster({ kube, kinds: registry, operatorNamespace, namespaces })
    const named = (): Promise<SessionConfig> => {
      return configOf({ kube, operatorNamespace }, accountNamed(live.accounts, account ?? 'default', namespace))
    }
    // The name of an account says more than the environment, which may be set for another.
    const isNamed = config === undefined || (account !== undefined && flags.baseUrl === undefined)
    return { config: isNamed ? await named() : config, live, close: () => kube.close() }
  } catch (error) {
    await kube.close()
    throw error
  }
}

/** What is to be known about a plan beside it. */
function remarks({ composed, elsewhere, unrecognised, isUnsalted }: Plan): readonly string[] {
  return [
    ...(elsewhere.length === 0
      ? []
      : [`in other accounts: ${counted(elsewhere.length, 'resource')}. Plan for those with --account`]),
    ...composed.map(
      ({ kind, name }) => `${kind}/${name}: what it makes in a cluster, such as a credential, is not planned`,
    ),
    ...unrecognised.map(({ kind, name }) => {
      return `${kind}/${name} has rawMetadata that no object has: it is planned as new. With --kubeconfig it is recognised`
    }),
    ...(isUnsalted ? ["the operator's salt could not be read: secrets of edited resources are shown as changed"] : []),
  ]
}

async function readAll(
  { filename, kustomize }: Pick<Flags, 'filename' | 'kustomize'>,
  input: Streams['input'],
): Promise<readonly ManifestAt[]> {
  if (filename.length === 0 && kustomize === undefined) {
    throw new ManifestError('no manifests are given: name a file or folder with -f, or a kustomization with -k')
  }
  const found: ManifestAt[] = []
  for (const path of filename) {
    found.push(
      ...(path === '-' ? parseManifestsAt(await contentOf(input), 'standard input') : await readManifestsAt(path)),
    )
  }
  if (kustomize !== undefined) found.push(...parseManifestsAt(await buildKustomization(kustomize), kustomize))
  return found
}

async function contentOf(input: Streams['input']): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of input) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}

function show(plan: Plan, form: Form, out: Terminal): void {
  switch (form) {
    case 'json':
      out.json(planJson(plan))
      break
    case 'markdown':
      out.write(planMarkdown(plan))
      break
    case 'text':
      for (const line of planText(plan, out)) out.print(line)
  }
}

function isExpected(error: unknown): error is Error {
  return [AccountFlagsError, ManifestError, PlanError, ApiError, KubeError].some((type) => error instanceof type)
}

function exitOf({ operations, unplanned, unnamed }: Plan): number {
  if (unplanned.some(({ isWaiting }) => !isWaiting)) return EXIT.error
  if (operations.some(({ marks }) => marks.length > 0) || unnamed.length > 0) return EXIT.marked
  return operations.length > 0 ? EXIT.changes : EXIT.nothing
}
