import { randomInt } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { parse } from 'yaml'
import { type ControlPlane, startControlPlane } from '../../../../controlplane/control-plane.ts'
import type { KubectlOptions } from '../../../../controlplane/kubectl.ts'
import { type ProgramResult, runProgram } from '../../../../controlplane/run-program.ts'
import { AUDIT_LOG } from '../../../cluster/support/permissions-used.ts'
import { until } from '../../../cluster/support/wait.ts'
import { ROOT } from '../../support/paths.ts'
import { toolPath } from '../../support/tools.ts'
import { PodProcess } from './pod-process.ts'
import { type PodTemplate, resolveContainer } from './pod-template.ts'

/** An object from the API server. */
export interface Live {
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid: string
    readonly resourceVersion: string
    readonly generation?: number
    readonly finalizers?: readonly string[]
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>> & {
    readonly conditions?: readonly Condition[]
  }
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly observedGeneration?: number
}

/** A fresh control plane with Helm, and processes instead of Pods. Its only CRDs are a chart's. */
export class InstalledCluster implements AsyncDisposable {
  readonly controlPlane: ControlPlane
  /** Holds the audit log, and packed charts. */
  readonly folder: string
  readonly #helms: Readonly<Record<3 | 4, string>>
  readonly #pods: PodProcess[] = []
  readonly #addresses = new Map<string, string>()

  private constructor(controlPlane: ControlPlane, folder: string, helms: Readonly<Record<3 | 4, string>>) {
    this.controlPlane = controlPlane
    this.folder = folder
    this.#helms = helms
  }

  static async start(): Promise<InstalledCluster> {
    const tell = (message: string): void => console.error(message)
    const helms = { 4: await toolPath('helm4', tell), 3: await toolPath('helm3', tell) }
    const folder = await mkdtemp(join(tmpdir(), 'culvert-installed-'))
    const auditLogFile = join(folder, AUDIT_LOG)
    return new InstalledCluster(await startControlPlane({ auditLog: true, auditLogFile }), folder, helms)
  }

  /** Runs Helm against the cluster, without the user's settings. */
  helm(major: 3 | 4, args: readonly string[]): Promise<ProgramResult> {
    return runProgram(this.#helms[major], args, { cwd: ROOT, env: this.#environment() })
  }

  /** The same; @throws Error with Helm's message if it fails */
  async helmed(major: 3 | 4, args: readonly string[]): Promise<string> {
    return succeeded(`helm ${args.join(' ')}`, await this.helm(major, args))
  }

  /** Runs commands of the documentation, with kubectl and the given major version of Helm. */
  async shell(commands: string, major: 3 | 4 = 4): Promise<string> {
    const path = [dirname(this.#helms[major]), dirname(this.controlPlane.kubectlPath), process.env.PATH].join(delimiter)
    const env = { ...this.#environment(), PATH: path }
    return succeeded(commands, await runProgram('bash', ['-euo', 'pipefail', '-c', commands], { cwd: ROOT, env }))
  }

  /** The administrator's kubectl. @throws Error with its message if it fails */
  async kubectl(args: readonly string[], options?: KubectlOptions): Promise<string> {
    return succeeded(`kubectl ${args.join(' ')}`, await this.controlPlane.kubectl(args, options))
  }

  async apply(...objects: readonly object[]): Promise<void> {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
    await this.kubectl(['apply', '--server-side', '--validate=strict', '-f', '-'], { stdin: list })
  }

  /** An object, or undefined. */
  async get<T = Live>(type: string, name: string, namespace?: string): Promise<T | undefined> {
    const where = namespace === undefined ? [] : ['-n', namespace]
    const text = await this.kubectl(['get', type, name, ...where, '-o', 'json', '--ignore-not-found'])
    return text === '' ? undefined : (JSON.parse(text) as T)
  }

  /** All objects of types, as `kubectl get` takes these. */
  async list(types: string, ...flags: readonly string[]): Promise<readonly Live[]> {
    const text = await this.kubectl(['get', types, '-o', 'json', ...flags])
    return (JSON.parse(text) as { readonly items: readonly Live[] }).items
  }

  /** Waits until `count` resources of Culvert exist and all are Ready at their current generations. */
  async allReady(count: number): Promise<readonly Live[]> {
    const look = async (): Promise<readonly Live[] | undefined> => {
      const all = await this.list('culvert', '--all-namespaces')
      return all.length === count && all.every(isReady) ? all : undefined
    }
    const describe = async () => ({
      unready: (await this.list('culvert', '--all-namespaces')).filter((each) => !isReady(each)),
      log: this.#pods.at(-1)?.output.split('\n').slice(-30),
    })
    return until(`${count} resources are Ready`, look, { timeoutMs: 90_000, describe })
  }

  /** Waits until a resource meets a condition. */
  async until(type: string, name: string, namespace: string, met: (found: Live) => boolean): Promise<Live> {
    const look = async (): Promise<Live | undefined> => {
      const found = await this.get(type, name, namespace)
      return found !== undefined && met(found) ? found : undefined
    }
    const describe = async () => ({
      found: await this.get(type, name, namespace),
      log: this.#pods.at(-1)?.output.split('\n').slice(-30),
    })
    return until(`${type}/${name} in ${namespace} is as wanted`, look, { timeoutMs: 60_000, describe })
  }

  /** Resyncs an account, and waits for the end. */
  async resync(name: string, namespace: string): Promise<void> {
    const value = String(randomInt(2 ** 40))
    const annotation = `culvert.dev/reconcile-requested-at=${value}`
    await this.kubectl(['annotate', '--overwrite', '-n', namespace, `account.culvert.dev/${name}`, annotation])
    await this.until('account.culvert.dev', name, namespace, (cr) => cr.status?.lastHandledReconcileAt === value)
  }

  /** Runs the operator that the chart `culvert` in `home` deploys, and waits until it leads. */
  async operator(home: string): Promise<PodProcess> {
    const operator = await this.run('deployment', 'culvert', home)
    await operator.printed(/"msg":"reconciling"/)
    return operator
  }

  /** Runs the current Pod template of a Deployment or Job as one process, with its ServiceAccount's token. */
  async run(type: 'deployment' | 'job', name: string, namespace: string): Promise<PodProcess> {
    const owner = await this.get<{ readonly spec: { readonly template: PodTemplate } }>(type, name, namespace)
    if (owner === undefined) throw new Error(`there is no ${type} ${namespace}/${name}`)
    const { template } = owner.spec
    const pod = { name: `${name}-${randomInt(1e6)}`, namespace }
    const container = await resolveContainer(template, pod, (kind, of) => this.#data(kind, of, namespace))
    const { serviceAccountName = 'default', automountServiceAccountToken = true } = template.spec
    const process = await PodProcess.start({
      name: pod.name,
      container,
      ip: this.address(name, namespace),
      account: automountServiceAccountToken
        ? {
            token: await this.token(serviceAccountName, namespace),
            namespace,
            ca: await this.#ca(),
            server: new URL(this.controlPlane.server),
          }
        : undefined,
      hosts: this.#addresses,
    })
    this.#pods.push(process)
    return process
  }

  /** A token as a Pod of the ServiceAccount gets it (TokenRequest). */
  async token(serviceAccount: string, namespace: string): Promise<string> {
    return (await this.kubectl(['create', 'token', serviceAccount, '-n', namespace])).trim()
  }

  /**
   * The address on which a Deployment's process listens, and to which its Service's name resolves; differs between
   * clusters.
   */
  address(name: string, namespace: string): string {
    const host = `${name}.${namespace}.svc`
    const known = this.#addresses.get(host)
    if (known !== undefined) return known
    const address = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`
    this.#addresses.set(host, address)
    return address
  }

  /** A Secret's key, decoded. */
  async secret(name: string, namespace: string, key: string): Promise<string> {
    const value = (await this.#data('Secret', name, namespace))[key]
    if (value === undefined) throw new Error(`the Secret ${namespace}/${name} has no ${key}`)
    return value
  }

  async #data(kind: 'ConfigMap' | 'Secret', name: string, namespace: string): Promise<Record<string, string>> {
    const found = await this.get<{ readonly data?: Record<string, string> }>(kind, name, namespace)
    if (found === undefined) throw new Error(`there is no ${kind} ${namespace}/${name}`)
    const decode = (text: string): string => (kind === 'Secret' ? Buffer.from(text, 'base64').toString() : text)
    return Object.fromEntries(Object.entries(found.data ?? {}).map(([key, text]) => [key, decode(text)]))
  }

  async #ca(): Promise<string> {
    const text = await readFile(this.controlPlane.kubeconfigPath, 'utf8')
    const [{ cluster }] = (parse(text) as Kubeconfig).clusters
    const data = cluster['certificate-authority-data']
    if (data === undefined) throw new Error('the kubeconfig holds no authority')
    return Buffer.from(data, 'base64').toString()
  }

  #environment(): NodeJS.ProcessEnv {
    const home = join(this.folder, 'home')
    return {
      ...process.env,
      HOME: home,
      KUBECONFIG: this.controlPlane.kubeconfigPath,
      KUBERC: 'off',
      ...helmFolders(home),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#pods.map((pod) => pod[Symbol.asyncDispose]()))
    await this.controlPlane.stop()
    await rm(this.folder, { recursive: true, force: true })
  }
}

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { readonly 'certificate-authority-data'?: string } }]
}

/** Folders that Helm would otherwise find through the user's environment. */
function helmFolders(home: string): Readonly<Record<string, string>> {
  return {
    HELM_CACHE_HOME: join(home, 'cache'),
    HELM_CONFIG_HOME: join(home, 'config'),
    HELM_DATA_HOME: join(home, 'data'),
  }
}

/** Ready and Synced for its current spec. */
export function isReady({ metadata, status }: Live): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return ready?.status === 'True' && ready.observedGeneration === metadata.generation
}

function succeeded(what: string, { code, stdout, stderr }: ProgramResult): string {
  if (code !== 0) throw new Error(`${what} failed:\n${stdout}${stderr}`)
  return stdout
}
