import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const BARE_CLIENT = fileURLToPath(new URL('bare-client.ts', import.meta.url))

/** A load for the bare client; its manifests exist in the namespace. */
export interface BareTask {
  /** Whether it makes the load, or lists what a restart has to know: the manifests and all objects, page by page. */
  readonly job: 'make' | 'list'
  readonly load: string
  readonly groups: number
  readonly kubeconfig: string
  readonly namespace: string
  readonly apiURL: string
  readonly apiKey: string
}

/** What the load cost the bare client, without its start. */
export interface BareReport {
  readonly seconds: number
  readonly cpuSeconds: number
  /** To Kubernetes and the API together. */
  readonly requests: number
}

/** Runs the bare client in a process of its own, so that its CPU time can be told from that of the servers. */
export async function floorOf(task: BareTask): Promise<BareReport> {
  const child = spawn(process.execPath, [BARE_CLIENT], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(task))
  const [report, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number | null]>])
  if (code !== 0) throw new Error(`the bare client ended with ${code}`)
  return JSON.parse(report) as BareReport
}
