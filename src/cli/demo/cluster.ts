import { existsSync } from 'node:fs'

/** Result of a program. */
export interface ProgramResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** What the demo needs from a cluster. */
export interface DemoCluster extends AsyncDisposable {
  readonly kubeconfigPath: string
  readonly kubectlPath: string
  /** Process ids of everything started here; empty for a cluster that was already running. */
  readonly pids: readonly number[]
  /** Undefined once namespaces are emptied and dependents are deleted with their owners; rejects if they never are. */
  readonly controllersPending: Promise<void> | undefined
  /** A non-zero exit code is a result, not an error. */
  kubectl(args: readonly string[], options?: { readonly stdin?: string }): Promise<ProgramResult>
}

export interface ClusterRequest {
  /** Use this cluster instead of starting one. */
  readonly kubeconfig?: string
  readonly onProgress: (message: string) => void
}

/** The demo cannot continue; the message is for the person at the terminal. */
export class DemoError extends Error {
  readonly code: 'NO_HARNESS' | 'CLUSTER_FAILED' | 'KUBECTL_FAILED' | 'OPERATOR_ENDED' | 'NO_TRAFFIC'

  constructor(code: DemoError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'DemoError'
    this.code = code
  }
}

/** The test suites' own harness starts the control plane; an installed package does not contain it. */
const HARNESS = new URL('../../../controlplane/control-plane.ts', import.meta.url)

/**
 * Starts a control plane, or opens the cluster of a kubeconfig. No resource of the demo needs controllers to become
 * Ready, so those of a control plane started here may have to be waited for (`controllersPending`).
 *
 * @throws DemoError `NO_HARNESS` outside a clone of the repository; `CLUSTER_FAILED` with the reason and its remedy.
 */
export async function openCluster(request: ClusterRequest): Promise<DemoCluster> {
  if (!existsSync(HARNESS)) {
    throw new DemoError(
      'NO_HARNESS',
      'The demo needs the source tree to start a control plane: clone the repository and run `npm ci && npm run demo` in it.',
    )
  }
  const { startControlPlane } = (await import(HARNESS.href)) as {
    readonly startControlPlane: (request: ClusterRequest & { awaitControllers: boolean }) => Promise<DemoCluster>
  }
  try {
    return await startControlPlane({ ...request, awaitControllers: false })
  } catch (error) {
    throw clusterFailure(error)
  }
}

/** The harness's own errors say what is missing and how to fix it; anything else is a bug and is shown as it is. */
function clusterFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'ControlPlaneError') return error
  return new DemoError('CLUSTER_FAILED', error.message, { cause: error })
}

/**
 * Says when the controllers work, if they do not yet.
 *
 * @throws DemoError `CLUSTER_FAILED` if they never will
 */
export async function controllersStarted(
  { controllersPending }: DemoCluster,
  say: (line: string) => void,
): Promise<void> {
  if (controllersPending === undefined) return
  say('The controllers of Kubernetes are not running yet: until then, deleted namespaces remain')
  try {
    await controllersPending
  } catch (error) {
    throw clusterFailure(error)
  }
  say('The controllers of Kubernetes are running')
}

/**
 * Runs kubectl and returns its output.
 *
 * @throws DemoError `KUBECTL_FAILED` with kubectl's error output.
 */
export async function kubectl(cluster: DemoCluster, args: readonly string[], stdin?: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectl(args, stdin === undefined ? {} : { stdin })
  if (code === 0) return stdout
  throw new DemoError('KUBECTL_FAILED', `kubectl ${args.join(' ')} failed:\n${stderr.trim() || stdout.trim()}`)
}
