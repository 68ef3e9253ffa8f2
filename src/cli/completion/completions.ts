import type { Command } from 'commander'
import { kinds } from '../../kinds/index.ts'
import { namespaceType } from '../../kube/core-types.ts'
import { resourceTypeOf } from '../../managed/kinds-registry.ts'
import { type Cluster, type ClusterFlags, withCluster } from '../cluster/ask-cluster.ts'
import { CommandError } from '../cluster/command-error.ts'
import { findKind } from '../cluster/resource-argument.ts'
import type { CommandEntry } from '../commands.ts'
import { standardTerminals } from '../terminal/terminal.ts'

/** The commands to complete, by name. */
export type Commands = Readonly<Record<string, CommandEntry>>

/** What can follow the name of a command. */
export interface Completion {
  readonly name: string
  readonly summary: string
  /** Long options, such as `--output`. */
  readonly options: readonly string[]
  /** Words that may follow: subcommands, or kinds with a slash. */
  readonly words: readonly string[]
}

/** What can follow each command. Loads all of them. */
export function completionsOf(commands: Commands): Promise<readonly Completion[]> {
  return Promise.all(Object.entries(commands).map(([name, entry]) => completionOf(name, entry)))
}

async function completionOf(name: string, { summary, load }: CommandEntry): Promise<Completion> {
  const command = await load()
  const takesResource = command.registeredArguments.some((argument) => argument.name() === 'resource')
  return {
    name,
    summary,
    options: command.options.flatMap(({ long }) => long ?? []),
    words: takesResource ? kinds.map(({ definition }) => `${definition.singular}/`) : subcommands(command),
  }
}

function subcommands(command: Command): readonly string[] {
  return [
    ...command.commands.map((each) => each.name()),
    ...command.registeredArguments.flatMap((each) => each.argChoices ?? []),
  ]
}

/** Cobra's directives, which kubectl reads after the words: no space after the word, no names of files. */
const NO_SPACE = 2
const NO_FILES = 4

/** Prints the words that the last of these may become, as kubectl expects it from a plugin. */
export async function printCompletions(words: readonly string[], commands: Commands): Promise<void> {
  const { out } = standardTerminals()
  const offered = await offeredFor(words, commands)
  for (const word of offered) out.print(word)
  out.print(`:${offered.some((word) => word.endsWith('/')) ? NO_SPACE + NO_FILES : NO_FILES}`)
}

async function offeredFor(words: readonly string[], commands: Commands): Promise<readonly string[]> {
  const [name, ...args] = words
  const current = words.at(-1) ?? ''
  const startsWith = (each: string): boolean => each.startsWith(current)
  if (words.length <= 1) return Object.keys(commands).filter(startsWith)
  const entry = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined
  if (name === undefined || entry === undefined) return []
  if (isNamespace(args)) return (await namesFrom(args, listNamespaces)).filter(startsWith)
  const { options, words: following } = await completionOf(name, entry)
  if (current.startsWith('-')) return options.filter(startsWith)
  const [before = ''] = args.slice(-2)
  const [kind = '', isNamed] = current.includes('/') ? [current.split('/')[0], true] : [before, false]
  const descriptor = following.some((word) => word.endsWith('/')) ? findKind(kind, kinds) : undefined
  if (descriptor === undefined || (!isNamed && args.length < 2)) return following.filter(startsWith)
  const named = await namesFrom(args, async ({ kube, namespace }) => {
    const type = resourceTypeOf(descriptor)
    const { items } = await kube.list(type, { namespace: type.namespaced ? namespace : undefined, limit: MOST_NAMES })
    return items.map(({ metadata }) => metadata.name)
  })
  return named.map((each) => (isNamed ? `${kind}/${each}` : each)).filter(startsWith)
}

/** More names are no help. */
const MOST_NAMES = 500
/** No one waits longer for the names. */
const NAMES_MS = 3_000

function isNamespace(args: readonly string[]): boolean {
  return ['-n', '--namespace'].includes(args.at(-2) ?? '')
}

async function listNamespaces({ kube }: Cluster): Promise<readonly string[]> {
  return (await kube.list(namespaceType, { limit: MOST_NAMES })).items.map(({ metadata }) => metadata.name)
}

/** Names from the cluster that these arguments mean; none where it does not answer, or may not be asked. */
async function namesFrom(
  args: readonly string[],
  list: (cluster: Cluster) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const none = AbortSignal.timeout(NAMES_MS)
  const late = new Promise<readonly string[]>((resolve) => none.addEventListener('abort', () => resolve([])))
  try {
    return await Promise.race([withCluster(flagsIn(args), standardTerminals(), list), late])
  } catch (error) {
    if (error instanceof CommandError) return []
    throw error
  }
}

/** The flags among these arguments by which commands find a cluster. */
function flagsIn(args: readonly string[]): ClusterFlags {
  const flagValue = (...names: readonly string[]): string | undefined => {
    const joined = args.find((arg) => names.some((name) => arg.startsWith(`${name}=`)))
    if (joined !== undefined) return joined.slice(joined.indexOf('=') + 1)
    const at = args.slice(0, -1).findIndex((arg) => names.includes(arg))
    return at < 0 || at + 1 >= args.length - 1 ? undefined : args[at + 1]
  }
  const flags = {
    kubeconfig: flagValue('--kubeconfig'),
    context: flagValue('--context'),
    namespace: flagValue('-n', '--namespace'),
  }
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined))
}
