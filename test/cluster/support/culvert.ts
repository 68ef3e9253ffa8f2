import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { type ProgramResult, runProgram } from '../../../controlplane/run-program.ts'
import { PROGRAM } from '../../builders/program.ts'

/** How a test runs `culvert`. */
export interface CulvertOptions {
  readonly kubeconfig: string
  /** Text for its standard input. */
  readonly stdin?: string
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>
}

/** Runs the command `culvert` to its end, as a person without colours does. */
export function culvert(args: readonly string[], { kubeconfig, stdin, env }: CulvertOptions): Promise<ProgramResult> {
  const options = { env: { ...environment(kubeconfig), ...env }, ...(stdin === undefined ? {} : { stdin }) }
  return runProgram(process.execPath, [PROGRAM, ...args], options)
}

/** Runs the command `culvert` with a reader of its output that has gone before anything is printed. */
export async function culvertUnread(
  args: readonly string[],
  { kubeconfig }: CulvertOptions,
): Promise<Omit<ProgramResult, 'stdout'>> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(kubeconfig),
  })
  child.stdout.destroy()
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  return { code: Number(code), stderr }
}

function environment(kubeconfig: string): NodeJS.ProcessEnv {
  return { ...process.env, KUBECONFIG: kubeconfig, NO_COLOR: '1', FORCE_COLOR: '0' }
}
