import { Argument, Command } from 'commander'
import { kinds } from '../kinds/index.ts'
import { bashScript, type Completion, fishScript, zshScript } from './completion/scripts.ts'
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
