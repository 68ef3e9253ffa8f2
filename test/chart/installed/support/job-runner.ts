import type { ProgramResult } from '../../../../controlplane/run-program.ts'
import { until } from '../../../cluster/support/wait.ts'
import type { InstalledCluster } from './installed-cluster.ts'

/** What became of a Helm command with a hook that is a Job. */
export interface HookedResult {
  readonly helm: ProgramResult
  /** What the Job's process printed. */
  readonly output: string
  readonly exitCode: number | null
}

/**
 * Runs Helm while somebody waits for one Job, runs what it says as a process, and tells the API server how it ended, as the Job
 * controller does. `look` is called while everything is there that Helm made for the Job: some of it goes with it.
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
  // Helm deletes what an earlier run left, and makes the Job anew.
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
