import { homedir } from 'node:os'
import { join } from 'node:path'
import {
  buildControlPlane,
  buildWatchdog,
  type ControlPlanePrograms,
  defaultCacheFolder,
  findBuiltControlPlane,
  KUBERNETES_VERSION,
} from './build.ts'
import type { OnProgress } from './build-progress.ts'
import { exists } from './cached-build.ts'
import { ControlPlaneError } from './errors.ts'
import { findKubectl } from './kubectl.ts'
import { downloadPrograms, publishedArchive } from './published-archive.ts'
import { runProgram } from './run-program.ts'

/** A program with the arguments that come before those of the component. */
export interface Program {
  readonly path: string
  readonly leading: readonly string[]
}

/** What a control plane consists of, except its controllers. */
export interface Programs {
  readonly etcd: Program
  readonly apiserver: Program
  readonly kubectl: string
  readonly watchdog: string
  /** Of Kubernetes, such as `1.36.3`. */
  readonly version: string
}

/** Where programs come from. */
export interface ProgramSources {
  /**
   * Folder with kube-apiserver and etcd, and perhaps kubectl: the value of `KUBEBUILDER_ASSETS`, as setup-envtest
   * prints it. Undefined or empty: they are downloaded or built.
   */
  readonly assets: string | undefined
  /** Where published archives are, without a slash at the end. Empty: nothing is downloaded. */
  readonly publishedAt: string
  /** PATH, where kubectl is searched for if the folder has none. */
  readonly searchPath: string
  readonly onProgress: OnProgress
}

/**
 * The programs of a control plane, the first of these: those in `assets`; those of an earlier build; the published
 * ones, which are downloaded once; a build, which takes minutes, once.
 *
 * @throws ControlPlaneError `ASSETS_INCOMPLETE`, `KUBECTL_MISSING`, and what `buildControlPlane` throws
 */
export async function obtainPrograms(sources: ProgramSources): Promise<Programs> {
  if (sources.assets !== undefined && sources.assets !== '') return programsOf(sources.assets, sources)
  const built = await findBuiltControlPlane()
  if (built !== undefined) return ownPrograms(built)
  const published = await publishedPrograms(sources)
  if (published !== undefined) return programsOf(published, sources)
  return ownPrograms(await buildControlPlane({ onProgress: sources.onProgress }))
}

/** Folder of the published programs; undefined, and one line of progress, if they cannot be had. */
async function publishedPrograms({ publishedAt, onProgress }: ProgramSources): Promise<string | undefined> {
  const archive = publishedArchive(process.platform, process.arch)
  if (archive === undefined || publishedAt === '') return undefined
  const cacheFolder = defaultCacheFolder(process.env, homedir())
  try {
    return await downloadPrograms(archive, { baseUrl: publishedAt, cacheFolder, onProgress })
  } catch (error) {
    if (!(error instanceof ControlPlaneError)) throw error
    onProgress(`Not downloaded, so Kubernetes is compiled instead: ${error.message}`)
    return undefined
  }
}

async function programsOf(folder: string, { searchPath, onProgress }: ProgramSources): Promise<Programs> {
  const { etcd, 'kube-apiserver': apiserver, kubectl } = await programsIn(folder)
  if (etcd === undefined || apiserver === undefined) {
    throw new ControlPlaneError(
      'ASSETS_INCOMPLETE',
      `KUBEBUILDER_ASSETS=${folder} lacks ${etcd === undefined ? 'etcd' : 'kube-apiserver'}. Set it to what "setup-envtest use -p path" prints, or unset it to download or build them.`,
    )
  }
  return {
    etcd: { path: etcd, leading: [] },
    apiserver: { path: apiserver, leading: [] },
    kubectl: kubectl ?? (await findKubectl(searchPath)),
    watchdog: await buildWatchdog({ onProgress }),
    version: await versionOf(apiserver),
  }
}

function ownPrograms({ controlplane: path, kubectl, watchdog }: ControlPlanePrograms): Programs {
  const component = (name: string): Program => ({ path, leading: ['--die-with-parent', name] })
  return {
    etcd: component('etcd'),
    apiserver: component('kube-apiserver'),
    kubectl,
    watchdog,
    version: KUBERNETES_VERSION,
  }
}

const NAMES = ['etcd', 'kube-apiserver', 'kubectl'] as const

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
