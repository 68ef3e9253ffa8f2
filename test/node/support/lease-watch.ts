import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { environment, onlyChildOf } from '../namespace.ts'
import type { KubernetesNode } from '../node.ts'

/** A Lease after one write. */
export interface LeaseState {
  /** Empty if it was released. */
  readonly holder: string
  /** When it was last acquired or renewed, in milliseconds since 1970; undefined without a holder. */
  readonly renewedAt: number | undefined
}

const COLUMNS = 'jsonpath={.spec.holderIdentity},{.spec.renewTime}{"\\n"}'

/** Records every write of a Lease. */
export class LeaseWatch implements AsyncDisposable {
  readonly states: LeaseState[] = []
  readonly #watch: ChildProcess

  private constructor(watch: ChildProcess) {
    this.#watch = watch
  }

  /** Resolves once it has read the current Lease. */
  static async start(node: KubernetesNode, namespace: string, name: string): Promise<LeaseWatch> {
    const get = ['--kubeconfig', node.kubeconfig, '-n', namespace, 'get', 'lease', name, '--watch', '-o', COLUMNS]
    const [command, ...args] = node.namespace.command(node.kubectlPath, get)
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env: environment() })
    const watch = new LeaseWatch(child)
    const lines = createInterface({ input: child.stdout })
    lines.on('line', (line) => {
      const [holder = '', renewTime = ''] = line.split(',')
      watch.states.push({ holder, renewedAt: renewTime === '' ? undefined : Date.parse(renewTime) })
    })
    await Promise.race([once(lines, 'line'), once(lines, 'close')])
    if (watch.states.length === 0) throw new Error(`the Lease ${namespace}/${name} could not be watched`)
    return watch
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#watch.exitCode !== null) return
    const exited = once(this.#watch, 'exit')
    process.kill(await onlyChildOf(this.#watch.pid ?? 0), 'SIGTERM')
    await exited
  }
}

/** A summary of leadership over some states. */
export interface Leadership {
  /** Holders in order, each once for every time it became leader. */
  readonly holders: readonly string[]
  /** The longest time in milliseconds between two renewals by any holder. */
  readonly longestGapMs: number
}

/** Summarizes the states of a Lease. */
export function leadershipOf(states: readonly LeaseState[]): Leadership {
  const held = states.filter((state): state is LeaseState & { readonly renewedAt: number } => {
    return state.holder !== '' && state.renewedAt !== undefined
  })
  const holders = held.map(({ holder }) => holder).filter((holder, index, all) => holder !== all[index - 1])
  const gaps = held.slice(1).map(({ renewedAt }, index) => renewedAt - (held[index]?.renewedAt ?? renewedAt))
  return { holders, longestGapMs: Math.max(0, ...gaps) }
}
