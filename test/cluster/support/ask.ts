import { type Cluster, withCluster } from '../../../src/cli/cluster/ask-cluster.ts'
import { terminalOf } from '../../../src/cli/terminal/terminal.ts'
import { CapturedText } from '../../builders/captured-text.ts'

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
  const printed = new CapturedText({ columns: width })
  const terminal = terminalOf(printed)
  const code = await withCluster({ kubeconfig, namespace }, { out: terminal, err: terminal }, run)
  const lines = String(printed).split('\n').slice(0, -1)
  return { code, lines, text: lines.join(' ').replaceAll(/\s+/g, ' ') }
}
