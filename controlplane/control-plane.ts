import { resolve } from 'node:path'
import type { OnProgress } from './build-progress.ts'
import { DEFAULT_CONTROLLERS } from './component-arguments.ts'
import { openExistingCluster } from './existing-cluster.ts'
import type { AuditLevel } from './folder.ts'
import type { KubectlOptions } from './kubectl.ts'
import { LocalControlPlane } from './local-control-plane.ts'
import { PUBLISHED_AT } from './published-archive.ts'
import type { ProgramResult } from './run-program.ts'

/** How to obtain a control plane. */
export interface ControlPlaneOptions {
  /** Use the cluster of this kubeconfig's current context; nothing is built or started. */
  readonly kubeconfig?: string
  /** Records requests in `auditLogPath`: `true` means at level Metadata. Default false. */
  readonly auditLog?: boolean | AuditLevel
  /** Path of a log that is kept when all else is removed. Default: a file that is removed with the control plane. */
  readonly auditLogFile?: string
  /** Controllers to run. Default `DEFAULT_CONTROLLERS`; an empty list runs none, so namespaces are not emptied. */
  readonly controllers?: readonly string[]
  /**
   * Whether to wait for the controllers, which may have to be built. Default true. Otherwise `controllersPending` says
   * when they work.
   */
  readonly awaitControllers?: boolean
  /**
   * Folder with kube-apiserver and etcd to use instead of downloading or building them. Default: the environment's
   * `KUBEBUILDER_ASSETS`.
   */
  readonly assets?: string
  /** Folder to which `copyData` of another control plane has copied what the new one begins with. Default: nothing. */
  readonly data?: string
  /** Called with each step, in words for people. */
  readonly onProgress?: OnProgress
}

/** A Kubernetes API to test or demonstrate against. */
export interface ControlPlane extends AsyncDisposable {
  /** Of an administrator. */
  readonly kubeconfigPath: string
  /** `https://127.0.0.1:PORT`. */
  readonly server: string
  /** Bearer token of the administrator; undefined for an existing cluster. */
  readonly adminToken: string | undefined
  /** JSON lines, one for each request, written before the response is sent; undefined if not recorded. */
  readonly auditLogPath: string | undefined
  /** A kubectl program. It needs `KUBECONFIG`, which `kubectl()` sets. */
  readonly kubectlPath: string
  /** Process ids of all processes, including the watchdog's; empty for an existing cluster. */
  readonly pids: readonly number[]
  /**
   * Undefined once the controllers work, and in an existing cluster. Until then namespaces are not emptied and
   * dependents not deleted. Rejects with a ControlPlaneError if they cannot be built or started.
   */
  readonly controllersPending: Promise<void> | undefined

  /** Runs kubectl as the administrator. A non-zero exit code is a result, not an error. */
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<ProgramResult>

  /** Stops the apiserver gracefully and starts it again on the same port with the same data. Throws `NOT_OWNED`. */
  restartApiserver(): Promise<void>
  /** Kills the apiserver like a crash. Throws `NOT_OWNED`. */
  killApiserver(): Promise<void>
  /**
   * Starts a killed apiserver on its port and waits until it is ready. Throws `NOT_OWNED`, `PORT_TAKEN`,
   * `START_FAILED`.
   */
  startApiserver(): Promise<void>

  /** Copies all objects to a new folder, from which other control planes can start. Throws `NOT_OWNED`. */
  copyData(folder: string): Promise<void>

  /** Stops everything and removes the folder; leaves an existing cluster alone. May be called again. */
  stop(): Promise<void>
}

/**
 * Starts a control plane on a free port of 127.0.0.1, obtaining its programs first if needed (`obtainPrograms`), or
 * opens the cluster of a kubeconfig.
 *
 * Any number may run side by side. Nothing remains after `stop()`, nor after this process has ended in any other way,
 * including SIGKILL.
 *
 * @example
 * await using controlPlane = await startControlPlane({ onProgress: console.error })
 * await controlPlane.kubectl(['get', 'namespaces'])
 *
 * @throws ControlPlaneError
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  if (options.kubeconfig !== undefined) return openExistingCluster(resolve(options.kubeconfig))
  return LocalControlPlane.start({
    auditLevel: auditLevel(options.auditLog),
    auditLogFile: options.auditLogFile,
    controllers: options.controllers ?? DEFAULT_CONTROLLERS,
    awaitControllers: options.awaitControllers ?? true,
    assets: options.assets ?? process.env.KUBEBUILDER_ASSETS,
    publishedAt: (process.env.CULVERT_ENVTEST_URL ?? PUBLISHED_AT).replace(/\/+$/, ''),
    data: options.data,
    onProgress: options.onProgress ?? (() => {}),
  })
}

function auditLevel(option: boolean | AuditLevel | undefined): AuditLevel | undefined {
  if (option === undefined || option === false) return undefined
  return option === true ? 'Metadata' : option
}
