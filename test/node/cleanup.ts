import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { environment } from './namespace.ts'

/**
 * Reads what to wait for, and sleeps until its input ends. Cgroups are removed from the inside out, once the kernel has
 * released their last process.
 */
const SCRIPT = `
  id=$1; shift
  keeper=
  while read -r line; do keeper=$line; done
  while [ -n "$keeper" ] && [ -d "/proc/$keeper" ]; do sleep 0.1; done
  attempts=100
  while [ "$attempts" -gt 0 ]; do
    left=
    for cgroup in "/sys/fs/cgroup/$id" /sys/fs/cgroup/*/"$id"; do
      if [ -d "$cgroup" ]; then find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null || left=$cgroup; fi
    done
    [ -z "$left" ] && break
    sleep 0.1
    attempts=$((attempts - 1))
  done
  rm -rf -- "$@"
  [ -z "$left" ]`

/**
 * Removes a node's cgroups and folders when it is disposed of or, because it is a separate process, when this one ends
 * in any other way.
 */
export class Cleanup implements AsyncDisposable {
  readonly #shell: ChildProcess

  private constructor(shell: ChildProcess) {
    this.#shell = shell
  }

  /** `id` is the name of the cgroups in every hierarchy. */
  static async prepare(id: string, folders: readonly string[]): Promise<Cleanup> {
    const shell = spawn('sh', ['-c', SCRIPT, 'cleanup', id, ...folders], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      env: environment(),
    })
    await once(shell, 'spawn')
    shell.stdin?.on('error', () => {})
    return new Cleanup(shell)
  }

  /** Adds a process to wait for before the removal. */
  after(pid: number): void {
    this.#shell.stdin?.write(`${pid}\n`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#shell, 'exit')
    this.#shell.stdin?.end()
    const [code] = (await exited) as [number]
    if (code !== 0) throw new Error("the node's cgroups could not be removed")
  }
}
