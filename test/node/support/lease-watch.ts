import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { environment, onlyChildOf } from '../namespace.ts'
import type { KubernetesNode } from '../node.ts'

/** A Lease, as one write left it. */
export interface LeaseState {
  /** Empty when it was given back. */
  readonly holder: string
  /** When it was last taken or renewed, in milliseconds since 1970; undefined when nobody holds it. */
  readonly renewedAt: number | undefined
}

const COLUMNS = 'jsonpath={.spec.holderIdentity},{.spec.renewTime}{"\\n"}'

/** Follows a Lease: every write of it, none left out. */
export class LeaseWatch implements AsyncDisposable {
  readonly states: LeaseState[] = []
  readonly #watch: ChildProcess

  private constructor(watch: ChildProcess) {
    this.#watch = watch
  }

  /** Resolves when it has seen the Lease as it is. */
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

/** What leadership did over the time of some states. */
export interface Leadership {
  /** Holders in their order, each once for every time it began to lead. */
  readonly holders: readonly string[]
  /** The longest time in milliseconds between two renewals, whoever made them. */
  readonly longestGapMs: number
}

/** Sums up what a Lease went through. */
export function leadershipOf(states: readonly LeaseState[]): Leadership {
  const held = states.filter((state): state is LeaseState & { readonly renewedAt: number } => {
    return state.holder !== '' && state.renewedAt !== undefined
  })
  const holders = held.map(({ holder }) => holder).filter((holder, index, all) => holder !== all[index - 1])
  const gaps = held.slice(1).map(({ renewedAt }, index) => renewedAt - (held[index]?.renewedAt ?? renewedAt))
  return { holders, longestGapMs: Math.max(0, ...gaps) }
}
