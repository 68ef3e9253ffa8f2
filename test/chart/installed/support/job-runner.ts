import type { ProgramResult } from '../../../../controlplane/run-program.ts'
import { until } from '../../../cluster/support/wait.ts'
import type { InstalledCluster } from './installed-cluster.ts'

/** The result of a Helm command with a hook that is a Job. */
export interface HookedResult {
  readonly helm: ProgramResult
  /** Output of the Job's process. */
  readonly output: string
  readonly exitCode: number | null
}

/**
 * Runs Helm while it waits for a Job, runs the Job's template as a process, and reports its result to the API server,
 * like the Job controller. Calls `look` while everything exists that Helm created for the Job: some of it is deleted
 * with it.
 */
export async function helmWithJob(
  cluster: InstalledCluster,
  major: 3 | 4,
  args: readonly string[],
  job: { readonly name: string; readonly namespace: string },
  look: () => Promise<void> = async () => {},
): Promise<HookedResult> {
  const earlier = await cluster.get('job', job.name, job.namespace)
  const running = cluster.helm(major, args)
  // Helm deletes the remains of an earlier run, and creates the Job again.
  await until('Helm made the Job', async () => {
    const found = await cluster.get('job', job.name, job.namespace)
    return found !== undefined && found.metadata.uid !== earlier?.metadata.uid
  })
  const process = await cluster.run('job', job.name, job.namespace)
  const exitCode = await process.exited()
  await look()
  await finish(cluster, job, exitCode === 0)
  return { helm: await running, output: process.output, exitCode }
}

async function finish(
  cluster: InstalledCluster,
  { name, namespace }: { readonly name: string; readonly namespace: string },
  isDone: boolean,
): Promise<void> {
  const now = new Date().toISOString().replace(/\.\d+/, '')
  const condition = (type: string) => ({ type, status: 'True', reason: 'Ended', lastTransitionTime: now })
  const status = isDone
    ? { succeeded: 1, completionTime: now, conditions: ['SuccessCriteriaMet', 'Complete'].map(condition) }
    : { failed: 1, conditions: ['FailureTarget', 'Failed'].map(condition) }
  const patch = JSON.stringify({ status: { startTime: now, uncountedTerminatedPods: {}, ...status } })
  await cluster.kubectl(['patch', 'job', name, '-n', namespace, '--subresource=status', '--type=merge', '-p', patch])
}
