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
