import { type Command, Option } from 'commander'

/** The flag by which a command prints for programs. */
export interface OutputFlags {
  readonly output: 'text' | 'json'
}

/** Adds the flag of `OutputFlags` to a command. */
export function outputOption(command: Command): Command {
  const option = new Option('-o, --output <format>', 'text for humans, or json for programs').choices(['text', 'json'])
  return command.addOption(option.default('text'))
}
