import type { Command } from 'commander'

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
