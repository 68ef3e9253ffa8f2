import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { findBuiltControlPlane } from './build.ts'
import { ControlPlaneError } from './errors.ts'
import { type ProgramResult, runProgram } from './run-program.ts'

/** How to run kubectl. */
export interface KubectlOptions {
  /** Text for `-f -`. */
  readonly stdin?: string
  /** Kills kubectl when aborted. */
  readonly signal?: AbortSignal
}

/** kubectl against one cluster. */
export interface Kubectl {
  /** The program, for callers that start it themselves. */
  readonly path: string
  run(args: readonly string[], options?: KubectlOptions): Promise<ProgramResult>
}

/** The path of a kubectl, and its settings. */
export interface KubectlSettings {
  readonly path: string
  readonly kubeconfig: string
  /** Discovery cache. The user's own is keyed by host and port, which our clusters reuse. */
  readonly cacheFolder?: string
}

/** kubectl with this kubeconfig and without the user's own settings. */
export function createKubectl(settings: KubectlSettings): Kubectl {
  const env: NodeJS.ProcessEnv = { ...process.env, KUBECONFIG: settings.kubeconfig, KUBERC: 'off' }
  if (settings.cacheFolder !== undefined) env.KUBECACHEDIR = settings.cacheFolder
  return {
    path: settings.path,
    run: (args, options = {}) => runProgram(settings.path, args, { env, ...options }),
  }
}

/**
 * A kubectl for a cluster run by others: the one on PATH, otherwise the one of an earlier build.
 *
 * @throws ControlPlaneError `KUBECTL_MISSING`
 */
export async function findKubectl(searchPath: string): Promise<string> {
  for (const folder of searchPath.split(delimiter).filter((entry) => entry !== '')) {
    const path = join(folder, 'kubectl')
    if (await isExecutable(path)) return path
  }
  const built = await findBuiltControlPlane()
  if (built !== undefined) return built.kubectl
  throw new ControlPlaneError(
    'KUBECTL_MISSING',
    'There is no kubectl on PATH. Install it (https://kubernetes.io/docs/tasks/tools/), or run "npm run controlplane" once without --kubeconfig, which builds one.',
  )
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
