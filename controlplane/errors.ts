/**
 * Why a control plane is not available.
 *
 * - `GO_MISSING`, `GO_TOO_OLD`: the Go toolchain that builds it is missing or too old; the message contains the
 *   remedies.
 * - `BUILD_FAILED`: the Go build ended with an error; the message contains its last lines.
 * - `DOWNLOAD_FAILED`: the published programs could not be downloaded, or are not those that were expected.
 * - `ASSETS_INCOMPLETE`: the folder that `KUBEBUILDER_ASSETS` names lacks kube-apiserver or etcd.
 * - `START_FAILED`: a component ended or did not answer in time; the message contains the end of its log.
 * - `PORT_TAKEN`: another program uses the port.
 * - `KUBECTL_MISSING`: an existing cluster is used and no kubectl was found.
 * - `KUBECONFIG_INVALID`: the kubeconfig names no server for its current context.
 * - `NOT_OWNED`: the operation needs a control plane that was started here, and this is an existing cluster.
 */
export type ControlPlaneErrorCode =
  | 'GO_MISSING'
  | 'GO_TOO_OLD'
  | 'BUILD_FAILED'
  | 'DOWNLOAD_FAILED'
  | 'ASSETS_INCOMPLETE'
  | 'START_FAILED'
  | 'PORT_TAKEN'
  | 'KUBECTL_MISSING'
  | 'KUBECONFIG_INVALID'
  | 'NOT_OWNED'

/** A control plane could not be built, started or used. The message is meant for the person at the terminal. */
export class ControlPlaneError extends Error {
  readonly code: ControlPlaneErrorCode

  constructor(code: ControlPlaneErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ControlPlaneError'
    this.code = code
  }
}

/** The `code` of a Node error (`ENOENT`, `EEXIST`, …), or undefined. */
export function systemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
