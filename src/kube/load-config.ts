import { existsSync, readFileSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import { dirname, resolve } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node/dist/config.js'
import type { Dispatcher } from 'undici'
import { isLoopback, type ProxyOptions, proxyFor, proxyURL } from '../http-client/proxies.ts'
import { readYaml } from '../util/yaml/read.ts'
import { KubeError } from './kube-error.ts'

export interface KubeConfigOptions {
  /** Path of a kubeconfig file. Default: `kubeconfigs`, then ~/.kube/config, then the service account of the pod. */
  readonly kubeconfig?: string | undefined
  /** Paths that KUBECONFIG names, to be merged. Default: none. */
  readonly kubeconfigs?: readonly string[] | undefined
  /** Context of the kubeconfig. Default: the current one. */
  readonly context?: string | undefined
  /**
   * Proxies to use unless the cluster names one itself (`proxy-url`) or is on this machine, as kubectl does. In a pod
   * without a kubeconfig the API server is reached directly. Default: none.
   */
  readonly proxies?: ProxyOptions | undefined
}

/** What a connection to the API server needs: request headers and TLS material. Secret: never logged. */
export interface ConnectionMaterial {
  readonly headers: Readonly<Record<string, string>>
  readonly tls: TlsMaterial
}

export interface TlsMaterial {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly servername?: string
  readonly rejectUnauthorized?: boolean
}

/** One API server and how to authenticate to it. */
export interface KubeConnection {
  /** Base URL of the API server, without a trailing slash. */
  readonly server: string
  /** URL of the proxy in between; undefined if there is none. */
  readonly proxyUrl: string | undefined
  /** Namespace of the context; in a pod, the pod's own. */
  readonly namespace: string | undefined
  /** Opens connections with this TLS material. Default: real sockets. */
  readonly openDispatcher?: (tls: TlsMaterial) => Dispatcher
  /** The current credentials: files are read again, and an expired exec credential is fetched again. */
  material(): Promise<ConnectionMaterial>
  /**
   * Forgets cached credentials after the server refused them: the next `material` starts from the configuration's
   * source.
   */
  reload(): void
}

/**
 * Loads the configuration with the client library, which knows its many forms, and uses nothing else of that library.
 *
 * @throws KubeError `Unexpected` when there is no configuration, or it names no cluster.
 * @throws ProxyError if its `proxy-url` names no proxy that can be used.
 */
export function loadKubeConnection(options: KubeConfigOptions = {}): KubeConnection {
  return new ConfiguredConnection(() => loadConfig(options), options.proxies)
}

/** Name that the library gives the cluster of a pod's service account. */
const IN_CLUSTER = 'inCluster'

class ConfiguredConnection implements KubeConnection {
  readonly server: string
  readonly proxyUrl: string | undefined
  readonly namespace: string | undefined
  readonly #load: () => KubeConfig
  #config: KubeConfig | undefined

  constructor(load: () => KubeConfig, proxies: ProxyOptions | undefined) {
    this.#load = load
    this.#config = load()
    const cluster = this.#config.getCurrentCluster()
    if (cluster === null) throw new KubeError('Unexpected', 'the kubeconfig names no cluster for its current context')
    this.server = cluster.server.replace(/\/+$/, '')
    this.proxyUrl = proxyURL('proxy-url of the kubeconfig', cluster.proxyUrl) ?? this.#environmentProxy(proxies)
    this.namespace = this.#config.getContextObject(this.#config.getCurrentContext())?.namespace
  }

  #environmentProxy(proxies: ProxyOptions | undefined): string | undefined {
    const isInPod = this.#config?.getCurrentCluster()?.name === IN_CLUSTER
    return proxies === undefined || isInPod || isLoopback(this.server) ? undefined : proxyFor(this.server, proxies)
  }

  reload(): void {
    this.#config = undefined
  }

  async material(): Promise<ConnectionMaterial> {
    this.#config ??= this.#load()
    const options: RequestOptions = {}
    try {
      await applyCredentials(this.#config, options)
    } catch (error) {
      throw new KubeError('Unauthorized', 'could not obtain credentials for the API server', { cause: error })
    }
    return { headers: authorizationHeaders(options), tls: tlsMaterial(options) }
  }
}

/**
 * `applyToHTTPSOptions` also builds an agent, which is not used here; while doing so it refuses plain http unless TLS
 * verification is off. Plain http (a local proxy) has nothing to verify.
 */
async function applyCredentials(config: KubeConfig, options: RequestOptions): Promise<void> {
  const cluster = config.getCurrentCluster()
  if (cluster?.server.startsWith('http:')) {
    const plain = new KubeConfig()
    const user = config.getCurrentUser() ?? { name: 'anonymous' }
    plain.loadFromClusterAndUser({ ...cluster, skipTLSVerify: true }, user)
    await plain.applyToHTTPSOptions(options)
    return
  }
  await config.applyToHTTPSOptions(options)
}

function authorizationHeaders(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (typeof value === 'string') headers[name.toLowerCase()] = value.trim()
  }
  if (typeof options.auth === 'string') {
    headers.authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`
  }
  return headers
}

function tlsMaterial(options: RequestOptions): TlsMaterial {
  return {
    ...pem('ca', options.ca),
    ...pem('cert', options.cert),
    ...pem('key', options.key),
    ...(options.servername === undefined ? {} : { servername: options.servername }),
    ...(options.rejectUnauthorized === undefined ? {} : { rejectUnauthorized: options.rejectUnauthorized }),
  }
}

function pem<K extends 'ca' | 'cert' | 'key'>(name: K, value: unknown): { readonly [P in K]?: string } {
  if (value === undefined || value === null) return {}
  return { [name]: String(value) } as { readonly [P in K]?: string }
}

function loadConfig(options: KubeConfigOptions): KubeConfig {
  const { kubeconfig, kubeconfigs = [] } = options
  const config = new FileConfig()
  try {
    if (kubeconfig !== undefined) config.loadFromFile(kubeconfig)
    else if (kubeconfigs.length > 0) mergeFiles(config, kubeconfigs)
    else config.loadFromDefault()
  } catch (error) {
    const source = kubeconfig ?? 'the default places'
    throw new KubeError('Unexpected', `could not load a kubeconfig from ${source}`, { cause: error })
  }
  refuseFallback(config)
  if (options.context !== undefined) {
    if (config.getContextObject(options.context) === null) {
      throw new KubeError('Unexpected', `the kubeconfig has no context ${options.context}`)
    }
    config.setCurrentContext(options.context)
  }
  ensureUser(config)
  return config
}

/** Merges files as kubectl does: those that do not exist are left out, and of two equal names the first counts. */
function mergeFiles(config: KubeConfig, paths: readonly string[]): void {
  for (const path of paths.filter((each) => existsSync(each))) {
    const file = new FileConfig()
    file.loadFromFile(path)
    file.clusters = file.clusters.filter(({ name }) => config.getCluster(name) === null)
    file.users = file.users.filter(({ name }) => config.getUser(name) === null)
    file.contexts = file.contexts.filter(({ name }) => config.getContextObject(name) === null)
    config.mergeConfig(file, Boolean(config.currentContext))
  }
}

/**
 * Reads its file as kubectl does, where the library reads YAML 1.2 and ignores a user's `tokenFile`. That must be read
 * again as the token rotates: it is passed to the library's file authenticator.
 */
class FileConfig extends KubeConfig {
  override loadFromString(text: string, options?: Parameters<KubeConfig['loadFromString']>[1]): void {
    super.loadFromString(JSON.stringify(documentIn(text)), options)
  }

  override loadFromFile(path: string): void {
    super.loadFromFile(path)
    const tokenFiles = tokenFilesIn(documentIn(readFileSync(path, 'utf8')))
    this.users = this.users.map((user) => {
      const tokenFile = tokenFiles.get(user.name)
      if (tokenFile === undefined) return user
      return { ...user, authProvider: { name: 'tokenFile', config: { tokenFile: resolve(dirname(path), tokenFile) } } }
    })
  }
}

function documentIn(text: string): unknown {
  const [first] = readYaml(text)
  return first?.value ?? null
}

interface KubeconfigDocument {
  readonly users?: readonly { readonly name?: string; readonly user?: { readonly tokenFile?: string } | null }[] | null
}

function tokenFilesIn(document: unknown): ReadonlyMap<string, string> {
  const users = (document as KubeconfigDocument | null)?.users ?? []
  return new Map(
    users.flatMap(({ name, user }) =>
      name !== undefined && typeof user?.tokenFile === 'string' ? [[name, user.tokenFile] as const] : [],
    ),
  )
}

/** Without a configuration the library falls back to http://localhost:8080, which only hides the mistake. */
function refuseFallback(config: KubeConfig): void {
  const cluster = config.getCurrentCluster()
  if (cluster?.name === 'cluster' && cluster.server === 'http://localhost:8080') {
    throw new KubeError('Unexpected', 'no kubeconfig found, and not running in a pod with a service account')
  }
}

/** Without a user the library would also leave out the cluster's CA. */
function ensureUser(config: KubeConfig): void {
  const context = config.getContextObject(config.getCurrentContext())
  if (context === null || config.getCurrentUser() !== null) return
  const name = 'anonymous'
  if (config.getUser(name) === null) config.addUser({ name })
  config.contexts = config.contexts.map((each) => (each === context ? { ...each, user: name } : each))
}
