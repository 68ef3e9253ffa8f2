import { join } from 'node:path'
import { buildControlPlane, buildSupplement, KUBERNETES_VERSION } from './build.ts'
import type { OnProgress } from './build-progress.ts'
import { exists } from './cached-build.ts'
import { controllerManagerArguments, controllersArguments } from './component-arguments.ts'
import { ControlPlaneError } from './errors.ts'
import type { ControlPlaneFolder } from './folder.ts'
import { findKubectl } from './kubectl.ts'
import { runProgram } from './run-program.ts'

/** A program with the arguments that come before those of the component. */
export interface Program {
  readonly path: string
  readonly leading: readonly string[]
}

/** What a control plane consists of. */
export interface Programs {
  readonly etcd: Program
  readonly apiserver: Program
  readonly controllerManager: Program & {
    arguments(folder: ControlPlaneFolder, controllers: readonly string[]): readonly string[]
  }
  readonly kubectl: string
  readonly watchdog: string
  /** Of Kubernetes, such as `1.36.3`. */
  readonly version: string
}

/** Where programs come from. */
export interface ProgramSources {
  /**
   * Folder with kube-apiserver and etcd, and perhaps kubectl and kube-controller-manager: the value of
   * `KUBEBUILDER_ASSETS`, as setup-envtest prints it. Undefined or empty: everything is built.
   */
  readonly assets: string | undefined
  /** PATH, where kubectl is searched for if the folder has none. */
  readonly searchPath: string
  readonly onProgress: OnProgress
}

/**
 * The programs of a control plane. What `assets` does not have is built: without it about ten minutes on two cores,
 * with kube-apiserver and etcd about three, once.
 *
 * @throws ControlPlaneError `ASSETS_INCOMPLETE`, `KUBECTL_MISSING`, and what `buildControlPlane` throws
 */
export async function obtainPrograms({ assets, searchPath, onProgress }: ProgramSources): Promise<Programs> {
  if (assets === undefined || assets === '') return ownPrograms(onProgress)
  const given = await programsIn(assets)
  const { etcd, 'kube-apiserver': apiserver, 'kube-controller-manager': controllerManager } = given
  if (etcd === undefined || apiserver === undefined) {
    throw new ControlPlaneError(
      'ASSETS_INCOMPLETE',
      `KUBEBUILDER_ASSETS=${assets} lacks ${etcd === undefined ? 'etcd' : 'kube-apiserver'}. Set it to what "setup-envtest use -p path" prints, or unset it to build a control plane.`,
    )
  }
  const { controllers, watchdog } = await buildSupplement({ onProgress })
  return {
    etcd: { path: etcd, leading: [] },
    apiserver: { path: apiserver, leading: [] },
    controllerManager:
      controllerManager === undefined
        ? { path: controllers, leading: [], arguments: controllersArguments }
        : { path: controllerManager, leading: [], arguments: controllerManagerArguments },
    kubectl: given.kubectl ?? (await findKubectl(searchPath)),
    watchdog,
    version: await versionOf(apiserver),
  }
}

async function ownPrograms(onProgress: OnProgress): Promise<Programs> {
  const { controlplane: path, kubectl, watchdog } = await buildControlPlane({ onProgress })
  const component = (name: string): Program => ({ path, leading: ['--die-with-parent', name] })
  return {
    etcd: component('etcd'),
    apiserver: component('kube-apiserver'),
    controllerManager: { ...component('kube-controller-manager'), arguments: controllerManagerArguments },
    kubectl,
    watchdog,
    version: KUBERNETES_VERSION,
  }
}

const NAMES = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const

/** The paths of those programs that the folder has. */
async function programsIn(folder: string): Promise<{ readonly [Name in (typeof NAMES)[number]]?: string }> {
  const paths = await Promise.all(NAMES.map(async (name) => [name, join(folder, name)] as const))
  const found = await Promise.all(paths.map(async ([, path]) => exists(path)))
  return Object.fromEntries(paths.filter((_entry, index) => found[index]))
}

/** `Kubernetes v1.34.1` as `1.34.1`; what the program says if it says something else. */
async function versionOf(apiserver: string): Promise<string> {
  const { stdout } = await runProgram(apiserver, ['--version'])
  return /v(\d+\.\d+\.\S+)/.exec(stdout)?.[1] ?? stdout.trim()
}
