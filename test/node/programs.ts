import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { buildFlags, defaultCacheFolder, KUBERNETES_VERSION } from '../../controlplane/build.ts'
import { BuildProgress, formatDuration, type OnProgress } from '../../controlplane/build-progress.ts'
import { buildOnce } from '../../controlplane/cached-build.ts'
import { goEnvironment, goIn, requireGo } from '../../controlplane/go-toolchain.ts'
import { runProgram } from '../../controlplane/run-program.ts'
import { readModule, sourceHash } from '../../controlplane/source-hash.ts'
import { NodeError } from './errors.ts'

/** The programs of a node that are not Debian's. */
export interface NodePrograms {
  /** kubelet, kube-proxy, kube-scheduler and kube-controller-manager in one; the first argument chooses. */
  readonly kubenode: string
  /** Keeps a Pod's namespaces open. */
  readonly pause: string
  /** CoreDNS. */
  readonly dns: string
}

const PROGRESS_INTERVAL_MS = 10_000

/**
 * The programs, built first if this machine has not built this source: separate from the control plane, which `npm
 * test` needs.
 *
 * @throws NodeError `BUILD_FAILED`; ControlPlaneError `GO_MISSING` or `GO_TOO_OLD`
 */
export async function buildNodePrograms(onProgress: OnProgress): Promise<NodePrograms> {
  const kubernetes = await buildModule('programs', ['.', './pause'], onProgress)
  const dns = await buildModule('dns', ['.'], onProgress)
  return { kubenode: join(kubernetes, 'kubenode'), pause: join(kubernetes, 'pause'), dns: join(dns, 'dns') }
}

/** Folder with the programs of a Go module next to this file. */
async function buildModule(module: string, packages: readonly string[], onProgress: OnProgress): Promise<string> {
  const source = join(import.meta.dirname, module)
  const flags = buildFlags(KUBERNETES_VERSION)
  const target = `${process.platform}/${process.arch}`
  const name = sourceHash({ files: await readModule(source), target, flags })
  const folder = join(dirname(defaultCacheFolder(process.env, homedir())), 'node', name)
  await buildOnce({
    folder,
    build: async (staging) => {
      await requireGo(goIn(source))
      onProgress(`Building test/node/${module} (once)`)
      await compile(source, ['build', '-v', ...flags, '-o', `${staging}/`, ...packages], onProgress)
    },
    onWait: (holder) => onProgress(`Waiting for process ${holder}, which is building test/node/${module}`),
  })
  return folder
}

async function compile(source: string, command: readonly string[], onProgress: OnProgress): Promise<void> {
  const started = performance.now()
  const since = (): string => formatDuration(performance.now() - started)
  const progress = new BuildProgress()
  const ticker = setInterval(() => onProgress(`Building: ${progress.summary()}, ${since()}`), PROGRESS_INTERVAL_MS)
  try {
    const { code } = await runProgram('go', command, {
      cwd: source,
      env: goEnvironment(),
      onStderr: (chunk) => progress.read(chunk),
    })
    if (code !== 0) throw new NodeError('BUILD_FAILED', `go build failed:\n${progress.complaints()}`)
    onProgress(`Built in ${since()}`)
  } finally {
    clearInterval(ticker)
  }
}
