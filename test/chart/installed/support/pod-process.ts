import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { imageEnv } from '../../../builders/image-env.ts'
import { PrintedLines } from '../../../builders/printed-lines.ts'
import { PROGRAM } from '../../../builders/program.ts'
import { END_WITH_PARENT } from '../../../cluster/support/operator-process.ts'
import type { ResolvedContainer } from './pod-template.ts'

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
/** Folders private to the Pod; the machine's content is hidden in them. */
const OWN_FOLDERS = ['/etc', '/var/run']

/** In a mount namespace of its own, so that its mounts are invisible to others and end with the process. */
const RUN = `set -e
for each in ${OWN_FOLDERS.join(' ')}; do mount --bind "$1$each" "$(readlink -f $each)"; done
shift
exec "$@"`

/** The credentials of a ServiceAccount, as a kubelet mounts them. */
export interface MountedAccount {
  readonly token: string
  readonly namespace: string
  readonly ca: string
  /** Where the API server is. */
  readonly server: URL
}

export interface PodOptions {
  readonly name: string
  readonly container: ResolvedContainer
  /** The Pod's loopback address. */
  readonly ip: string
  /** Undefined if the template mounts no token. */
  readonly account: MountedAccount | undefined
  /** Addresses of Services by their names, instead of the cluster's DNS. */
  readonly hosts: ReadonlyMap<string, string>
}

/**
 * A Pod as a process of this machine: with the arguments, environment and volumes that a kubelet would provide, the
 * token of its ServiceAccount in the usual place, and nothing of the environment or the kubeconfig of the user who runs
 * the tests. The address of `--listen` is replaced by the Pod's, and the operator's port by a free one. User, read-only
 * root and limits do not apply here.
 *
 * Needs Linux, and root or user namespaces.
 */
export class PodProcess implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #exit: Promise<unknown>
  readonly #printed: PrintedLines

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child
    this.#folder = folder
    this.#exit = once(child, 'close')
    this.#printed = new PrintedLines(child)
  }

  /** Starts it, without waiting for it to become ready. */
  static async start(options: PodOptions): Promise<PodProcess> {
    const { name, container, account, hosts, ip } = options
    const folder = await mkdtemp(join(tmpdir(), 'culvert-pod-'))
    const known = ['127.0.0.1 localhost', ...[...hosts].map(([host, address]) => `${address} ${host}`)]
    const files = new Map([
      ...container.files,
      ['/etc/hosts', `${known.join('\n')}\n`],
      ['/etc/nsswitch.conf', 'hosts: files\n'],
    ])
    for (const [file, text] of Object.entries(account === undefined ? {} : filesOf(account))) files.set(file, text)
    for (const each of OWN_FOLDERS) await mkdir(join(folder, each), { recursive: true })
    for (const [path, text] of files) {
      if (!OWN_FOLDERS.some((each) => path.startsWith(`${each}/`))) throw new Error(`nothing can be mounted at ${path}`)
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
    const rights = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
    const own = ['--mount', '--propagation', 'private', '--', 'sh', '-c', RUN, name, folder]
    const node = [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(END_WITH_PARENT)}`, PROGRAM]
    const args = container.args.map((arg) => listeningAt(arg, ip))
    const child = spawn('unshare', [...rights, ...own, ...node, ...args], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...environment(name, account), ...container.env },
    })
    return new PodProcess(child, folder)
  }

  /** Its whole output. */
  get output(): string {
    return this.#printed.text
  }

  /**
   * Waits until it has printed a line that matches; returns the match. @throws Error with its output if it has ended
   */
  printed(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#printed.until(pattern)
  }

  /** Resolves to the exit code when it ends on its own. */
  async exited(): Promise<number | null> {
    await this.#exit
    return this.#child.exitCode
  }

  /** Stops it like a kubelet; resolves to the exit code. */
  async stop(): Promise<number | null> {
    await this.#end('SIGTERM')
    return this.#child.exitCode
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end('SIGKILL')
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal)
    await this.#exit
  }
}

function filesOf({ token, namespace, ca }: MountedAccount): Readonly<Record<string, string>> {
  return { [`${ACCOUNT}/token`]: token, [`${ACCOUNT}/namespace`]: namespace, [`${ACCOUNT}/ca.crt`]: ca }
}

/** The environment from the container runtime and the image. */
function environment(name: string, account: MountedAccount | undefined): Record<string, string> {
  const server = account?.server
  return {
    PATH: process.env.PATH ?? '',
    HOME: '/',
    HOSTNAME: name,
    ...imageEnv(),
    ...(server === undefined ? {} : { KUBERNETES_SERVICE_HOST: server.hostname, KUBERNETES_SERVICE_PORT: server.port }),
  }
}

/**
 * A Pod has all ports to itself; here the operator takes a free one, and the emulator the one that its Service names.
 */
function listeningAt(arg: string, ip: string): string {
  const [, port] = /^--listen=0\.0\.0\.0:(\d+)$/.exec(arg) ?? []
  if (port === undefined) return arg
  return `--listen=${ip}:${port === OPERATOR_PORT ? 0 : port}`
}

/** Default of `operator.port`. */
const OPERATOR_PORT = '8080'
