import { Argument, Command } from 'commander'
import { type Commands, type Completion, completionsOf } from './completion/completions.ts'
import { standardTerminals } from './terminal/terminal.ts'

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript, kubectl: kubectlScript } as const

type Shell = keyof typeof SCRIPTS

/** `culvert completion`: completion for shells. */
export function completionCommand(commands: Commands): Command {
  return new Command('completion')
    .description(
      'Print a script that completes the commands and options of culvert, kinds, names of resources and namespaces. ' +
        'kubectl: the program by which kubectl completes `kubectl culvert`, for a folder of the PATH.',
    )
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      '\nExamples:\n  source <(culvert completion bash)\n  culvert completion zsh > ~/.zsh/completions/_culvert\n' +
        '  culvert completion fish > ~/.config/fish/completions/culvert.fish\n' +
        '  culvert completion kubectl > ~/.local/bin/kubectl_complete-culvert\n' +
        '  chmod +x ~/.local/bin/kubectl_complete-culvert\n',
    )
    .action(async (shell: Shell) => {
      standardTerminals().out.write(await completionScript(shell, commands))
    })
}

/** The script that completes these commands in a shell. */
export async function completionScript(shell: Shell, commands: Commands): Promise<string> {
  return SCRIPTS[shell](await completionsOf(commands))
}

/**
 * A completion script for bash. Like those of other shells, it holds the commands and options, which costs no process,
 * and asks `culvert __complete` for names.
 */
export function bashScript(completions: readonly Completion[]): string {
  const cases = completions.map(
    ({ name, options, words }) => `    ${name}) words="${[...words, ...options].join(' ')}" ;;`,
  )
  return `# Completion of culvert for bash.
_culvert() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words="" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${completions.map(({ name }) => name).join(' ')}"; fi
  if [[ "$current" == */* || "$previous" == -n || "$previous" == --namespace ]]; then
    words="$(culvert __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | grep -v '^:')"
  fi
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
  if [[ "$words[CURRENT]" == */* || "$words[CURRENT-1]" == (-n|--namespace) ]]; then
    compadd -- \${(f)"$(culvert __complete "\${(@)words[2,CURRENT]}" 2>/dev/null | grep -v '^:')"}
    return
  fi
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
  return `# Completion of culvert for fish.
function __culvert_names
  culvert __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null | string match -rv '^:'
end
complete -c culvert -f -n 'string match -q "*/*" -- (commandline -ct)' -a '(__culvert_names)'
complete -c culvert -f -n 'contains -- (commandline -opc)[-1] -n --namespace' -a '(__culvert_names)'
${[...first, ...rest].join('\n')}
`
}

/** The program by which kubectl completes `kubectl culvert`, which it finds by the name `kubectl_complete-culvert`. */
export function kubectlScript(): string {
  return '#!/bin/sh\nexec kubectl culvert __complete "$@"\n'
}

/** Text in single quotes, as all three shells read it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
