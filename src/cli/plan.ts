import { Command, Option } from 'commander'
import { ApiError } from '../api/errors.ts'
import { type Environment, readEnvironment } from '../config.ts'
import { kinds } from '../kinds/index.ts'
import { KubeError } from '../kube/errors.ts'
import { KindsRegistry } from '../managed/kinds-registry.ts'
import { createLogger } from '../util/logger.ts'
import {
  type AccountFlags,
  AccountFlagsError,
  accountFromFlags,
  accountOptions,
  readingClient,
} from './account-flags.ts'
import { collect } from './flags.ts'
import { type ManifestAt, ManifestError, parseManifestsAt, readManifestsAt } from './manifests.ts'
import { makePlan, type Plan } from './plan/make-plan.ts'
import { planJson } from './plan/render-json.ts'
import { planMarkdown } from './plan/render-markdown.ts'
import { paintFor, planText } from './plan/render-text.ts'
import { PlanError } from './plan/scene.ts'
import { showProgress } from './progress.ts'

interface Flags extends AccountFlags {
  readonly filename: readonly string[]
  readonly namespace: string
  readonly installation?: string
  readonly output: 'text' | 'json' | 'markdown'
}

/** Exit codes of `culvert plan`. */
export const EXIT = { nothing: 0, error: 1, changes: 2, marked: 3 } as const

/** Streams of a command. */
export interface Streams {
  readonly input: AsyncIterable<string | Buffer>
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean }
  readonly errors: NodeJS.WritableStream & { readonly isTTY?: boolean }
}

/** `culvert plan`: what applying manifests would do to the account. Writes nothing anywhere. */
export function planCommand(): Command {
  const command = new Command('plan')
    .description('Show what applying these manifests would do to the account, request by request. Changes nothing.')
    .option('-f, --filename <path>', 'file or folder with manifests, or - for standard input (repeatable)', collect, [])
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
    const streams = { input: process.stdin, output: process.stdout, errors: process.stderr }
    process.exitCode = await runPlan(flags, readEnvironment(), streams)
  })
}

const HELP = `
Exit code: 0 nothing to do, 2 changes, 3 changes to look at first (something is deleted, replaced or opened, a policy
leaves an edge, a restriction could lock out), 1 an error.

Examples:
  CULVERT_API_KEY=… culvert plan -f manifests/ --base-url https://api.example.com
  kustomize build . | culvert plan -f - --output markdown`

/** @returns the exit code */
export async function runPlan(flags: Flags, environment: Environment, streams: Streams): Promise<number> {
  const progress = showProgress(streams.errors)
  try {
    const config = accountFromFlags(flags, environment)
    if (config === undefined) throw new AccountFlagsError('no account is given: set --base-url and CULVERT_API_KEY')
    const manifests = await readAll(flags.filename, streams.input)
    const reader = readingClient(config, environment)
    try {
      const plan = await makePlan({
        kinds: new KindsRegistry(kinds),
        manifests,
        namespace: flags.namespace,
        installation: flags.installation,
        config,
        reader,
        logger: createLogger('silent'),
        progress: progress.tell,
      })
      progress.end()
      streams.output.write(rendered(plan, flags.output, streams.output))
      return exitOf(plan)
    } finally {
      await reader.close()
    }
  } catch (error) {
    progress.end()
    if (!isExpected(error)) throw error
    streams.errors.write(`${error.message}\n`)
    return EXIT.error
  }
}

async function readAll(paths: readonly string[], input: Streams['input']): Promise<readonly ManifestAt[]> {
  if (paths.length === 0) throw new ManifestError('no manifests are given: name a file or folder with -f')
  const found: ManifestAt[] = []
  for (const path of paths) {
    found.push(
      ...(path === '-' ? parseManifestsAt(await textOf(input), 'standard input') : await readManifestsAt(path)),
    )
  }
  return found
}

async function textOf(input: Streams['input']): Promise<string> {
  const parts: string[] = []
  for await (const part of input) parts.push(String(part))
  return parts.join('')
}

function rendered(plan: Plan, form: Flags['output'], stream: NodeJS.WritableStream): string {
  switch (form) {
    case 'json':
      return `${JSON.stringify(planJson(plan), undefined, 2)}\n`
    case 'markdown':
      return planMarkdown(plan)
    case 'text':
      return `${planText(plan, paintFor(stream)).join('\n')}\n`
  }
}

function isExpected(error: unknown): error is Error {
  return [AccountFlagsError, ManifestError, PlanError, ApiError, KubeError].some((type) => error instanceof type)
}

function exitOf({ operations, unplanned }: Plan): number {
  if (unplanned.some(({ isWaiting }) => !isWaiting)) return EXIT.error
  if (operations.some(({ marks }) => marks.length > 0)) return EXIT.marked
  return operations.length > 0 ? EXIT.changes : EXIT.nothing
}
