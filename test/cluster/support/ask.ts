import { type Cluster, withCluster } from '../../../src/cli/cluster/ask-cluster.ts'
import type { Terminal } from '../../../src/cli/terminal/terminal.ts'

/** What a command printed, and its exit code. */
export interface Asked {
  readonly code: number
  readonly lines: readonly string[]
  /** The lines as one text without line breaks, as a person reads a paragraph. */
  readonly text: string
}

/** The cluster and namespace that a command asks about. */
export interface AskedPlace {
  readonly kubeconfig: string
  readonly namespace: string
}

/** Runs a command in this process, against the cluster and namespace of a world, on a terminal without colours. */
export async function ask(
  { kubeconfig, namespace }: AskedPlace,
  run: (cluster: Cluster) => Promise<number>,
  width = 100,
): Promise<Asked> {
  const lines: string[] = []
  const terminal: Terminal = {
    width,
    tableWidth: width,
    print: (line) => lines.push(line),
    styled: (_style, text) => text,
  }
  const code = await withCluster({ kubeconfig, namespace }, { out: terminal, err: terminal }, run)
  return { code, lines, text: lines.join(' ').replaceAll(/\s+/g, ' ') }
}
