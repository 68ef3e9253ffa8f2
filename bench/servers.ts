import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { usageOf } from '../test/builders/process-usage.ts'
import { samplesOf, sumOfMetric } from '../test/cluster/support/metric.ts'
import type { Row } from './row.ts'

/** The apiserver counts its objects, and measures etcd's file, every half minute or more often. Milliseconds. */
const COUNTED_MS = 65_000

/** What a cluster's servers take. */
export interface Servers {
  /** Objects of Culvert's kinds. */
  readonly resources: number
  readonly apiserverMiB: number
  readonly etcdMiB: number
  /** etcd's file. */
  readonly databaseMiB: number
}

/** What the servers of a cluster take now. */
export async function readServers(controlPlane: ControlPlane): Promise<Servers> {
  const { pids } = controlPlane
  const { code, stdout, stderr } = await controlPlane.kubectl(['get', '--raw', '/metrics'])
  if (code !== 0) throw new Error(`the apiserver shows no metrics: ${stderr}`)
  return {
    resources: sumOfMetric(stdout, 'apiserver_resource_objects', ['group="culvert.dev"']),
    apiserverMiB: await residentMiB(pids, 'kube-apiserver'),
    etcdMiB: await residentMiB(pids, 'etcd'),
    databaseMiB: Math.max(0, ...samplesOf(stdout, 'apiserver_storage_size_bytes', [])) / 2 ** 20,
  }
}

/** Resources that the servers use with all resources of a run, compared to none. */
export async function rowsOfServers(controlPlane: ControlPlane, empty: Servers): Promise<readonly Row[]> {
  await sleep(COUNTED_MS)
  const full = await readServers(controlPlane)
  const load = `${full.resources} resources in the cluster`
  return [
    {
      load,
      figure: 'memory of the apiserver, compared to none',
      value: full.apiserverMiB,
      floor: empty.apiserverMiB,
    },
    { load, figure: 'memory of etcd', value: full.etcdMiB, floor: empty.etcdMiB },
    { load, figure: 'file of etcd', value: full.databaseMiB, floor: empty.databaseMiB },
  ].map((row) => ({ ...row, unit: 'MiB' }))
}

async function residentMiB(pids: readonly number[], program: string): Promise<number> {
  // One program may be all of them: its first argument that is no flag says which.
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8')))
  const pid = pids[commands.findIndex((command) => command.split('\0').some((part) => basename(part) === program))]
  if (pid === undefined) throw new Error(`the control plane has no ${program}`)
  return (await usageOf(pid)).residentMiB
}
