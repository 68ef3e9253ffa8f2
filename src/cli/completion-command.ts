import { Argument, Command } from 'commander'
import { kinds } from '../kinds/index.ts'
import { standardTerminals } from './terminal/terminal.ts'

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

type Shell = keyof typeof SCRIPTS

/** The commands to complete, by name. */
type Commands = Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<Command> }>>

/** `culvert completion`: completion for shells. */
export function completionCommand(commands: Commands): Command {
  return new Command('completion')
    .description('Print a script that completes the commands and options of culvert, and the kinds of resources.')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      '\nExamples:\n  source <(culvert completion bash)\n  culvert completion zsh > ~/.zsh/completions/_culvert\n' +
        '  culvert completion fish > ~/.config/fish/completions/culvert.fish\n',
    )
    .action(async (shell: Shell) => {
      standardTerminals().out.write(await completionScript(shell, commands))
    })
}

/** The script that completes these commands in a shell. */
export async function completionScript(shell: Shell, commands: Commands): Promise<string> {
  return SCRIPTS[shell](await completions(commands))
}

async function completions(commands: Commands): Promise<readonly Completion[]> {
  const named = Object.entries(commands).map(async ([name, { summary, load }]): Promise<Completion> => {
    const command = await load()
    const takesResource = command.registeredArguments.some((argument) => argument.name() === 'resource')
    return {
      name,
      summary,
      options: command.options.flatMap(({ long }) => long ?? []),
      words: takesResource ? kinds.map(({ definition }) => `${definition.singular}/`) : subcommands(command),
    }
  })
  return Promise.all(named)
}

function subcommands(command: Command): readonly string[] {
  return [
    ...command.commands.map((each) => each.name()),
    ...command.registeredArguments.flatMap((each) => each.argChoices ?? []),
  ]
}

/** What can follow the name of a command. */
export interface Completion {
  readonly name: string
  readonly summary: string
  /** Long options, such as `--output`. */
  readonly options: readonly string[]
  /** Words that may follow: subcommands, or kinds with a slash. */
  readonly words: readonly string[]
}

/** A completion script for bash. */
export function bashScript(completions: readonly Completion[]): string {
  const cases = completions.map(
    ({ name, options, words }) => `    ${name}) words="${[...words, ...options].join(' ')}" ;;`,
  )
  return `# Completion of culvert for bash.
_culvert() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words="" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${completions.map(({ name }) => name).join(' ')}"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  # A name follows the slash of a kind.
  if [[ "\${COMPREPLY[0]}" == */ ]]; then compopt -o nospace; fi
}
complete -F _culvert culvert
`
}

/** A completion script for zsh. */
export function zshScript(completions: readonly Completion[]): string {
  const described = completions.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`)
  const cases = completions.map(({ name, options, words }) => {
    return `    ${name}) compadd -S '' -- ${words.join(' ')}; compadd -- ${options.join(' ')} ;;`
  })
  return `#compdef culvert
# Completion of culvert for zsh.
_culvert() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case "$words[2]" in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = "_culvert" ]; then _culvert "$@"; else compdef _culvert culvert; fi
`
}

/** A completion script for fish. */
export function fishScript(completions: readonly Completion[]): string {
  const first = completions.map(({ name, summary }) => {
    return `complete -c culvert -f -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`
  })
  const rest = completions.flatMap(({ name, options, words }) => {
    const after = `complete -c culvert -f -n '__fish_seen_subcommand_from ${name}'`
    const lines = options.map((option) => `${after} -l ${option.replace(/^--/, '')}`)
    return words.length === 0 ? lines : [`${after} -a '${words.join(' ')}'`, ...lines]
  })
  return `# Completion of culvert for fish.\n${[...first, ...rest].join('\n')}\n`
}

/** Text in single quotes, as all three shells read it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
