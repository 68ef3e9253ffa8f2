import { type Command, Option } from 'commander'

/** Adds the flags by which a command reaches a cluster. */
export function connectionOptions(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'how to reach the cluster (default: KUBECONFIG, ~/.kube/config, or the pod itself)')
    .option('--context <name>', 'context of the kubeconfig')
}

/** The flag by which kubectl and culvert find a resource, after a space; nothing for one without a namespace. */
export function namespaceFlag(namespace: string | undefined): string {
  return namespace === undefined ? '' : ` -n ${namespace}`
}

/** The flag by which a command prints for programs. */
export interface OutputFlags {
  readonly output: 'text' | 'json'
}

/** Adds the flag of `OutputFlags` to a command. */
export function outputOption(command: Command): Command {
  const option = new Option('-o, --output <format>', 'for people, or for programs').choices(['text', 'json'])
  return command.addOption(option.default('text'))
}
