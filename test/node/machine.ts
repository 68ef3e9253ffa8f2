import { readdir, readFile, readlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '../../controlplane/run-program.ts'
import { cgroupsOfMachine } from './cgroups.ts'
import { environment, MACHINE_SETTINGS } from './namespace.ts'

/** The state of the machine that a node must not change. */
export interface MachineState {
  /** Folder and mount point of each. */
  readonly mounts: readonly string[]
  readonly networkDevices: readonly string[]
  /** Tables and rules of iptables. */
  readonly firewall: readonly string[]
  readonly settings: Readonly<Record<string, string>>
}

/** Traces of a running node on the machine. */
export interface NodeTraces {
  readonly cgroups: readonly string[]
  readonly folders: readonly string[]
  /** Command lines. */
  readonly processes: readonly string[]
}

/** Reads the machine's state, as this process sees it. */
export async function lookAtMachine(): Promise<MachineState> {
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).trimEnd().split('\n')
  const settings = MACHINE_SETTINGS.map(async (name) => [name, await readFile(`/proc/sys/${name}`, 'utf8')] as const)
  const firewall = await runProgram('iptables-save', [], { env: environment() })
  return {
    mounts: mounts.map((line) => line.split(' ').slice(3, 5).join(' ')).sort(),
    networkDevices: (await readdir('/sys/class/net')).sort(),
    firewall: firewall.stdout.split('\n').filter((line) => /^[*-]/.test(line)),
    settings: Object.fromEntries(await Promise.all(settings)),
  }
}

/** Finds the traces of the node with this id. */
export async function tracesOf(id: string): Promise<NodeTraces> {
  return {
    cgroups: (await cgroupsOfMachine()).filter((path) => path.includes(id)),
    folders: (await readdir(tmpdir())).filter((name) => name === id).map((name) => join(tmpdir(), name)),
    processes: await processesOf(id),
  }
}

/** By the command line or, if that has no trace, by mounts that only the node has. */
async function processesOf(id: string): Promise<readonly string[]> {
  const ours = await readlink('/proc/self/ns/mnt')
  const found: string[] = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    // It may end meanwhile.
    const namespace = await readlink(`/proc/${pid}/ns/mnt`).catch(() => ours)
    const mounts = namespace === ours ? '' : await readFile(`/proc/${pid}/mountinfo`, 'utf8').catch(() => '')
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ').trim()
    if (mounts.includes(id) || command.includes(id)) found.push(command)
  }
  return found
}
