import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { GatewayOptions } from '../../../src/emulator/gateway/gateway-options.ts'
import type { RunningEmulator } from './world.ts'

/** Ends with the process that started it. */
const ENTRY = `
  import { startEmulator } from ${JSON.stringify(new URL('../../../src/emulator/emulator.ts', import.meta.url).href)}
  process.once('disconnect', () => process.exit())
  const { url, apiKey, adminUrl, adminToken, gateway } = await startEmulator(JSON.parse(process.argv[1]))
  process.send({ url, apiKey, adminUrl, adminToken, gateway })
`

/** An emulator that carries traffic, in a process of its own. */
export interface TrafficChild {
  readonly emulator: RunningEmulator
  readonly pid: number
  /** What it has logged. */
  readonly log: readonly string[]
}

/** Starts one on free ports. @param execArgv flags of Node, such as for a profile, which it writes when it is closed */
export async function startTrafficChild(
  options: GatewayOptions = {},
  execArgv: readonly string[] = [],
): Promise<TrafficChild> {
  const gateway = { sshListen: '127.0.0.1:0', tlsListen: '127.0.0.1:0', ...options }
  const flags = [...execArgv, '--input-type=module', '-e', ENTRY, JSON.stringify({ gateway })]
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] })
  const log: string[] = []
  if (child.stderr !== null) createInterface(child.stderr).on('line', (line) => log.push(line))
  const [answer] = await Promise.race([once(child, 'message'), failure(child, log)])
  return { emulator: { ...answer, close: () => stop(child) }, pid: child.pid ?? 0, log }
}

async function failure(child: ChildProcess, log: readonly string[]): Promise<never> {
  await once(child, 'exit')
  throw new Error(`the emulator ended: ${log.join('\n')}`)
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  if (child.connected) child.disconnect()
  await exited
}
