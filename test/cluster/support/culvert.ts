import { fileURLToPath } from 'node:url'
import { type ProgramResult, runProgram } from '../../../controlplane/run-program.ts'

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))

/** How a test runs `culvert`. */
export interface CulvertOptions {
  readonly kubeconfig: string
  /** Further variables of the environment. */
  readonly env?: Readonly<Record<string, string>>
}

/** Runs the command `culvert` to its end, as a person without colours does. */
export function culvert(args: readonly string[], { kubeconfig, env = {} }: CulvertOptions): Promise<ProgramResult> {
  return runProgram(process.execPath, [MAIN, ...args], {
    env: { ...process.env, KUBECONFIG: kubeconfig, NO_COLOR: '1', FORCE_COLOR: '0', ...env },
  })
}
