import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { type ProgramResult, type RunProgramOptions, runProgram } from '../../controlplane/run-program.ts'
import { NodeError } from './errors.ts'
import { NETWORK_SCRIPT } from './network.ts'

/** Settings of the whole machine that a kubelet changes. */
export const MACHINE_SETTINGS = [
  'vm/overcommit_memory',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
] as const

/**
 * Files that components write outside their folders vanish with the namespace: state and sockets in /run, and the fixed
 * paths of kubelet and CNI in /var. A kubelet sees copies of the machine's settings, and changes those.
 */
const SCRIPT = `
  set -eu
  id=$1; shift
  mount --make-rprivate /
  mount --make-rshared /
  for folder in /run /var/lib /var/log; do mount -t tmpfs -o mode=755 "$id" "$folder"; done
  mkdir /run/settings
  for setting in "$@"; do
    copy="/run/settings/$(echo "$setting" | tr / .)"
    cat "/proc/sys/$setting" > "$copy"
    mount --bind "$copy" "/proc/sys/$setting"
  done
  ${NETWORK_SCRIPT}
  echo ready
  cat > /dev/null`

/** A node's own mounts, network and processes. Its first process is a shell that waits for the end of its input. */
export class NodeNamespace implements AsyncDisposable {
  /** Its first process, by its PID on the machine. */
  readonly pid: number
  readonly #keeper: ChildProcess

  private constructor(keeper: ChildProcess, pid: number) {
    this.#keeper = keeper
    this.pid = pid
  }

  /**
   * Opens one; `id` is the name of its mounts. It ends, with all its processes, when this process ends for any reason,
   * because that closes its input.
   */
  static async open(id: string): Promise<NodeNamespace> {
    const flags = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc']
    const keeper = spawn('unshare', [...flags, '--', 'sh', '-c', SCRIPT, 'keeper', id, ...MACHINE_SETTINGS], {
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      env: environment(),
    })
    keeper.stdin.on('error', () => {})
    let complaints = ''
    keeper.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      complaints += chunk
    })
    const ready = new Promise<boolean>((resolve) => {
      createInterface({ input: keeper.stdout }).once('line', () => resolve(true))
      keeper.once('close', () => resolve(false))
      keeper.once('error', (error) => {
        complaints += error.message
        resolve(false)
      })
    })
    if (!(await ready)) throw new NodeError('START_FAILED', `The node's namespaces could not be made: ${complaints}`)
    return new NodeNamespace(keeper, await onlyChildOf(keeper.pid ?? 0))
  }

  /** The command that runs a program inside. */
  command(program: string, args: readonly string[]): readonly [program: string, ...args: string[]] {
    return ['nsenter', '--target', String(this.pid), '--mount', '--net', '--pid', '--', program, ...args]
  }

  /** Runs a program inside until it ends. */
  run(program: string, args: readonly string[], options: RunProgramOptions = {}): Promise<ProgramResult> {
    const [command, ...rest] = this.command(program, args)
    return runProgram(command, rest, { ...options, env: environment(options.env) })
  }

  /** The same; returns its output. @throws NodeError with its error message */
  async output(program: string, args: readonly string[], options: RunProgramOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(program, args, options)
    if (code === 0) return stdout
    throw new NodeError('COMMAND_FAILED', `${program} ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`)
  }

  /** Ends every process inside and waits; mounts and network vanish with the last one. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#keeper.exitCode !== null || this.#keeper.signalCode !== null) return
    const closed = once(this.#keeper, 'exit')
    this.#keeper.stdin?.end()
    await closed
  }
}

/** System programs are also in `sbin`, which is not in everybody's path. */
export function environment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return { ...env, PATH: `${env.PATH ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin` }
}

/** The only child of a process. */
export async function onlyChildOf(pid: number): Promise<number> {
  return Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ')[0])
}
