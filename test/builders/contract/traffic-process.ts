import type { GatewayOptions } from '../../../src/emulator/gateway/gateway-options.ts'
import { usageOf } from '../process-usage.ts'
import { SshAgents } from './ssh-agent.ts'
import { startTrafficChild, type TrafficChild } from './traffic-child.ts'
import { TrafficWorld } from './traffic-world.ts'

/** A world whose emulator runs in a process of its own, so that its memory can be told from that of its clients. */
export class TrafficProcess extends TrafficWorld {
  readonly #pid: number

  private constructor({ emulator, pid, log }: TrafficChild, agents: SshAgents) {
    super(emulator, agents, log)
    this.#pid = pid
  }

  static async start(options: GatewayOptions = {}): Promise<TrafficProcess> {
    return new TrafficProcess(await startTrafficChild(options), await SshAgents.start())
  }

  /** Memory in MiB: what is resident, and the most that ever was. */
  async memory(): Promise<{ readonly residentMiB: number; readonly peakMiB: number }> {
    return await usageOf(this.#pid)
  }
}
