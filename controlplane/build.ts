import { symlink } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { BuildProgress, formatDuration, type OnProgress } from './build-progress.ts'
import { buildOnce, exists } from './cached-build.ts'
import { ControlPlaneError } from './errors.ts'
import { goEnvironment, goIn, requireGo } from './go-toolchain.ts'
import { runProgram } from './run-program.ts'
import { readModule, sourceHash } from './source-hash.ts'

/** The version that the control plane is built from and reports. */
export const KUBERNETES_VERSION = '1.36.3'

/** The built programs. */
export interface ControlPlanePrograms {
  /** etcd, kube-apiserver and kubectl in one; the first argument chooses. */
  readonly controlplane: string
  /** Cleans up after its owner has died. */
  readonly watchdog: string
  /** kubectl, by that name. */
  readonly kubectl: string
}

/** How the programs are built. */
export interface BuildOptions {
  readonly onProgress?: OnProgress
  /** Folder of the builds. Default: `culvert/controlplane` in `$XDG_CACHE_HOME` or `~/.cache`. */
  readonly cacheFolder?: string
  /** Whether the build gets only the time that other processes leave. Default false. */
  readonly lowPriority?: boolean
  /** Stops the build when aborted. */
  readonly signal?: AbortSignal
}

const MODULE_FOLDER = import.meta.dirname
const PROGRESS_INTERVAL_MILLISECONDS = 10_000

/** `go build` flags. The version is set at link time: otherwise clients cannot parse the server's version. */
export function buildFlags(version: string): string[] {
  const [major = '', minor = ''] = version.split('.')
  const variables = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' }
  const linker = Object.entries(variables).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
  return ['-trimpath', '-buildvcs=false', '-mod=readonly', '-ldflags', ['-s', '-w', ...linker].join(' ')]
}

/** The user's cache folder for built control planes. */
export function defaultCacheFolder(env: NodeJS.ProcessEnv, home: string): string {
  return join(env.XDG_CACHE_HOME || join(home, '.cache'), 'culvert', 'controlplane')
}

/** What `go build` makes of this module. */
interface Build {
  /** Part of the build's folder. */
  readonly prefix: string
  readonly packages: readonly string[]
  /** In words for people. */
  readonly announcement: string
}

const SERVERS: Build = {
  prefix: '',
  packages: ['.', './watchdog'],
  announcement: `Kubernetes ${KUBERNETES_VERSION} (once; minutes on two cores, less when Go has parts of it)`,
}

const CONTROLLERS: Build = {
  prefix: 'controllers-',
  packages: ['./controllers'],
  announcement: `the controllers of Kubernetes ${KUBERNETES_VERSION} (once)`,
}

const WATCHDOG: Build = {
  prefix: 'watchdog-',
  packages: ['./watchdog'],
  announcement: 'what cleans up after a control plane (once)',
}

/**
 * Returns the programs that serve, building them first if this source has not been built on this machine: minutes on
 * two cores and 150 MB of disk, once. Several processes may call it at the same time.
 *
 * @throws ControlPlaneError `GO_MISSING`, `GO_TOO_OLD` or `BUILD_FAILED`
 */
export async function buildControlPlane(options: BuildOptions = {}): Promise<ControlPlanePrograms> {
  return programsIn(await built(SERVERS, options))
}

/** Like `buildControlPlane`, for the program with the controllers that objects need to behave as usual. */
export async function buildControllers(options: BuildOptions = {}): Promise<string> {
  return join(await built(CONTROLLERS, options), 'controllers')
}

/** Like `buildControlPlane`, for the watchdog alone. */
export async function buildWatchdog(options: BuildOptions = {}): Promise<string> {
  return join(await built(WATCHDOG, options), 'watchdog')
}

/** The folder of a build, made first if needed. */
async function built(what: Build, options: BuildOptions): Promise<string> {
  const cacheFolder = options.cacheFolder ?? defaultCacheFolder(process.env, homedir())
  const flags = buildFlags(KUBERNETES_VERSION)
  const folder = join(cacheFolder, `${what.prefix}${await buildName(flags)}`)
  await buildOnce({
    folder,
    build: (staging) => build(what, staging, folder, flags, options),
    onWait: (holder) => options.onProgress?.(`Waiting for process ${holder}, which is building the control plane`),
    ...(options.signal && { signal: options.signal }),
  })
  return folder
}

/** What `buildControlPlane` returns if there is an earlier build of this source, or undefined: builds nothing. */
export async function findBuiltControlPlane(): Promise<ControlPlanePrograms | undefined> {
  const folder = join(defaultCacheFolder(process.env, homedir()), await buildName(buildFlags(KUBERNETES_VERSION)))
  return (await exists(folder)) ? programsIn(folder) : undefined
}

/** The cache name of a build of this source with these flags for this machine. */
async function buildName(flags: readonly string[]): Promise<string> {
  const files = await readModule(MODULE_FOLDER)
  return sourceHash({ files, target: `${process.platform}/${process.arch}`, flags })
}

function programsIn(folder: string): ControlPlanePrograms {
  return {
    controlplane: join(folder, 'controlplane'),
    watchdog: join(folder, 'watchdog'),
    kubectl: join(folder, 'kubectl'),
  }
}

async function build(
  what: Build,
  staging: string,
  folder: string,
  flags: readonly string[],
  options: BuildOptions,
): Promise<void> {
  const started = performance.now()
  await requireGo(goIn(MODULE_FOLDER))
  options.onProgress?.(`Building ${what.announcement}`)
  await compile(what.packages, staging, flags, options)
  if (what === SERVERS) await symlink('controlplane', join(staging, 'kubectl'))
  options.onProgress?.(`Built in ${formatDuration(performance.now() - started)}; kept in ${folder}`)
}

async function compile(
  packages: readonly string[],
  staging: string,
  flags: readonly string[],
  options: BuildOptions,
): Promise<void> {
  const started = performance.now()
  const progress = new BuildProgress(await countPackages(packages))
  const ticker = setInterval(
    () => options.onProgress?.(`Building: ${progress.summary()}, ${formatDuration(performance.now() - started)}`),
    PROGRESS_INTERVAL_MILLISECONDS,
  )
  try {
    const { code } = await runProgram('go', ['build', '-v', ...flags, '-o', `${staging}/`, ...packages], {
      cwd: MODULE_FOLDER,
      env: goEnvironment(),
      onStderr: (chunk) => progress.read(chunk),
      lowPriority: options.lowPriority ?? false,
      ...(options.signal && { signal: options.signal }),
    })
    if (code !== 0) throw new ControlPlaneError('BUILD_FAILED', `go build failed:\n${progress.complaints()}`)
  } finally {
    clearInterval(ticker)
  }
}

/** The number of packages to compile, or undefined: used only for progress. Downloads the modules. */
async function countPackages(packages: readonly string[]): Promise<number | undefined> {
  const { code, stdout } = await goIn(MODULE_FOLDER)(['list', '-deps', '-mod=readonly', ...packages])
  return code === 0 ? stdout.trim().split('\n').length : undefined
}
