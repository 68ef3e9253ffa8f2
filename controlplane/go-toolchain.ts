import { ControlPlaneError, systemErrorCode } from './errors.ts'
import { type ProgramResult, runProgram } from './run-program.ts'

/** A release of Go, such as 1.26. Patch releases do not matter here. */
export interface GoVersion {
  readonly major: number
  readonly minor: number
}

/** The oldest Go that builds Kubernetes 1.36. */
export const MINIMUM_GO: GoVersion = { major: 1, minor: 26 }

/**
 * Parses the output of `go env GOVERSION` or `go version`: `go1.26.8`, `go1.27rc1`, `go version go1.26.8 linux/amd64`,
 * `devel go1.27-abcdef …`. Undefined for anything else.
 */
export function parseGoVersion(text: string): GoVersion | undefined {
  const match = /\bgo(\d+)\.(\d+)/.exec(text)
  if (match?.[1] === undefined || match[2] === undefined) return undefined
  return { major: Number(match[1]), minor: Number(match[2]) }
}

/** Whether a version of Go is `minimum` or later. */
export function isAtLeast(version: GoVersion, minimum: GoVersion): boolean {
  return version.major > minimum.major || (version.major === minimum.major && version.minor >= minimum.minor)
}

/** What a person without a usable Go can do. */
export function goRemedies(): string {
  const wanted = `Go ${MINIMUM_GO.major}.${MINIMUM_GO.minor}`
  return [
    'The local control plane is built from Kubernetes source, once. Either',
    `  - install ${wanted} or later from https://go.dev/dl/, or`,
    `  - install your distribution's package (apt install golang, dnf install golang, brew install go) when it is ${wanted} or later, or`,
    '  - use a cluster that you have, for example one made by kind (test/cluster/on-kind): give its file with --kubeconfig FILE.',
  ].join('\n')
}

/** Runs `go` with these arguments. */
export type RunGo = (args: readonly string[]) => Promise<ProgramResult>

/**
 * Checks that a Go which can build the module is installed. Go 1.21 and later download the release that `go.mod` asks
 * for, so the check runs in the module's folder.
 *
 * @throws ControlPlaneError `GO_MISSING` or `GO_TOO_OLD`, with the remedies
 */
export async function requireGo(runGo: RunGo): Promise<GoVersion> {
  const answer = await askForVersion(runGo)
  const version = answer.code === 0 ? parseGoVersion(answer.stdout) : undefined
  if (version !== undefined && isAtLeast(version, MINIMUM_GO)) return version
  const said = (answer.stdout.trim() || answer.stderr.trim()).slice(0, 500)
  throw new ControlPlaneError(
    'GO_TOO_OLD',
    `Go ${MINIMUM_GO.major}.${MINIMUM_GO.minor} or later is needed; the Go on PATH says: ${said}\n${goRemedies()}`,
  )
}

async function askForVersion(runGo: RunGo): Promise<ProgramResult> {
  try {
    return await runGo(['env', 'GOVERSION'])
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error
    throw new ControlPlaneError('GO_MISSING', `There is no Go on PATH.\n${goRemedies()}`, { cause: error })
  }
}

/** `go` from PATH in the module's folder, without cgo, so that no C compiler is needed. */
export function goIn(folder: string): RunGo {
  return (args) => runProgram('go', args, { cwd: folder, env: goEnvironment() })
}

/**
 * The environment of every `go` command: without a C compiler and without the caller's workspace. It is the same for
 * all modules, which share compiled packages. Two thirds of the usual time suffice without debugging information, which
 * our programs do not contain, and without collecting garbage in compilers, whose memory is limited instead.
 */
export function goEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const flags = ['-gcflags=all=-dwarf=false', '-ldflags=-w', ...(env.GOFLAGS ? [env.GOFLAGS] : [])]
  return { GOGC: 'off', GOMEMLIMIT: '1GiB', ...env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: flags.join(' ') }
}
