import { join } from 'node:path'
import { goProgram } from '../../controlplane/go-program.ts'
import { runProgram } from '../../controlplane/run-program.ts'

const MODULE = join(import.meta.dirname, 'engines')

/** What tools make of a manifest that they apply repeatedly. */
export interface Finding {
  /** `Kind/namespace/name`. */
  readonly subject: string
  /** What Flux did with it the second time. */
  readonly flux: 'created' | 'configured' | 'unchanged' | 'skipped'
  /** The merge patches by which Argo CD would change what it has just applied, by its way of comparing. */
  readonly argo: Readonly<Partial<Record<'default' | 'ServerSideApply' | 'ServerSideDiff', object>>>
}

/**
 * Applies manifests with the engines of Flux and Argo CD. Builds them first where this machine has not done so yet,
 * which takes a minute or more.
 */
export async function applyByEngines(kubeconfig: string, manifests: readonly object[]): Promise<readonly Finding[]> {
  const { code, stdout, stderr } = await runProgram(await goProgram(MODULE), [], {
    stdin: JSON.stringify(manifests),
    env: { ...process.env, KUBECONFIG: kubeconfig },
  })
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as readonly Finding[]
}
