import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { defaultCacheFolder } from '../../../controlplane/build.ts'
import { BuildProgress } from '../../../controlplane/build-progress.ts'
import { buildOnce } from '../../../controlplane/cached-build.ts'
import { goEnvironment, goIn, requireGo } from '../../../controlplane/go-toolchain.ts'
import { runProgram } from '../../../controlplane/run-program.ts'

/** A program built by `go install`. */
interface GoTool {
  /** Its package with the version, as `go install` takes it. */
  readonly source: string
  /** Its name after `go install`. */
  readonly program: string
}

/** Programs that check the chart and what is released next to it. */
export const TOOLS = {
  helm4: { source: 'helm.sh/helm/v4/cmd/helm@v4.3.1', program: 'helm' },
  helm3: { source: 'helm.sh/helm/v3/cmd/helm@v3.22.0', program: 'helm' },
  kubeScore: { source: 'github.com/zegl/kube-score/cmd/kube-score@v1.20.0', program: 'kube-score' },
  krew: { source: 'sigs.k8s.io/krew/cmd/krew@v0.4.4', program: 'krew' },
  kubeconform: { source: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0', program: 'kubeconform' },
} as const satisfies Readonly<Record<string, GoTool>>

/** Path of a tool, built first if this machine has not built this version: once, a minute or two each. */
export async function toolPath(name: keyof typeof TOOLS, onProgress: (message: string) => void): Promise<string> {
  const { source, program } = TOOLS[name]
  const version = source.slice(source.lastIndexOf('@') + 1)
  const tools = join(dirname(defaultCacheFolder(process.env, homedir())), 'tools')
  const folder = join(tools, `${name}-${version}-${process.platform}-${process.arch}`)
  await buildOnce({
    folder,
    build: async (staging) => {
      onProgress(`Building ${source} (once)`)
      await requireGo(goIn(import.meta.dirname))
      await install(source, staging)
    },
    onWait: (holder) => onProgress(`Waiting for process ${holder}, which is building ${name}`),
  })
  return join(folder, program)
}

async function install(source: string, folder: string): Promise<void> {
  const progress = new BuildProgress()
  const { code } = await runProgram('go', ['install', '-v', '-trimpath', '-ldflags', '-s -w', source], {
    cwd: folder,
    env: { ...goEnvironment(), GOBIN: folder },
    onStderr: (chunk) => progress.read(chunk),
  })
  if (code !== 0) throw new Error(`go install ${source} failed:\n${progress.complaints()}`)
}

/**
 * Folder of a Go module's files in Go's cache, downloaded first if missing.
 *
 * @param module the path, and the version unless the module in `from` requires one
 */
export async function goModule(module: string, from = homedir()): Promise<string> {
  const { code, stdout, stderr } = await runProgram('go', ['mod', 'download', '-json', module], {
    cwd: from,
    env: goEnvironment(),
  })
  if (code !== 0) throw new Error(`go mod download ${module} failed:\n${stdout}${stderr}`)
  return (JSON.parse(stdout) as { readonly Dir: string }).Dir
}
