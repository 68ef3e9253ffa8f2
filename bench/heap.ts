import { once } from 'node:events'
import type { OperatorProcess } from '../test/cluster/support/operator-process.ts'

/** Flags of Node with which {@link heapMiB} can ask a process. */
export const INSPECTED = ['--inspect=127.0.0.1:0']

/** MiB of an operator's heap that are in use after a full collection, as Node's inspector says. */
export async function heapMiB({ log }: OperatorProcess): Promise<number> {
  const url = /Debugger listening on (ws:\S+)/.exec(log)?.[1]
  if (url === undefined) throw new Error('the operator was not started with the inspector')
  const socket = new WebSocket(url)
  await once(socket, 'open')
  const ask = async (id: number, method: string): Promise<Record<string, unknown>> => {
    const answers = once(socket, 'message') as Promise<[MessageEvent]>
    socket.send(JSON.stringify({ id, method }))
    const [{ data }] = await answers
    return (JSON.parse(String(data)) as { readonly result: Record<string, unknown> }).result
  }
  await ask(1, 'HeapProfiler.collectGarbage')
  const { usedSize } = await ask(2, 'Runtime.getHeapUsage')
  socket.close()
  return Number(usedSize) / 2 ** 20
}
