import { readFileSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import { dirname, isAbsolute, join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node/dist/config.js'
import type { Dispatcher } from 'undici'
import { readYaml } from '../util/yaml/read.ts'
import { KubeError } from './errors.ts'

export interface KubeConfigOptions {
  /** Path of a kubeconfig file. Default: KUBECONFIG, then ~/.kube/config, then the service account of the pod. */
  readonly kubeconfig?: string | undefined
  /** Context of the kubeconfig. Default: the current one. */
  readonly context?: string | undefined
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
 */
export function loadKubeConnection(options: KubeConfigOptions = {}): KubeConnection {
  return new ConfiguredConnection(() => loadConfig(options))
}

class ConfiguredConnection implements KubeConnection {
  readonly server: string
  readonly proxyUrl: string | undefined
  readonly namespace: string | undefined
  readonly #load: () => KubeConfig
  #config: KubeConfig | undefined

  constructor(load: () => KubeConfig) {
    this.#load = load
    this.#config = load()
    const cluster = this.#config.getCurrentCluster()
    if (cluster === null) throw new KubeError('Unexpected', 'the kubeconfig names no cluster for its current context')
    this.server = cluster.server.replace(/\/+$/, '')
    this.proxyUrl = cluster.proxyUrl
    this.namespace = this.#config.getContextObject(this.#config.getCurrentContext())?.namespace
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

/**
 * Reads its file as kubectl does: the library's parser is one of YAML 1.2, which it keeps for further files of
 * KUBECONFIG.
 */
class FileConfig extends KubeConfig {
  override loadFromString(text: string, options?: Parameters<KubeConfig['loadFromString']>[1]): void {
    super.loadFromString(JSON.stringify(documentIn(text)), options)
  }
}

function documentIn(text: string): unknown {
  const [first] = readYaml(text)
  return first?.value ?? null
}

function loadConfig(options: KubeConfigOptions): KubeConfig {
  const config = new FileConfig()
  try {
    if (options.kubeconfig === undefined) config.loadFromDefault()
    else loadFile(config, options.kubeconfig)
  } catch (error) {
    const source = options.kubeconfig ?? 'the default places'
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

/**
 * The library ignores a user's `tokenFile`, which must be read again as the
 * token rotates, so it is passed to the library's file authenticator.
 */
function loadFile(config: KubeConfig, path: string): void {
  config.loadFromFile(path)
  const document = documentIn(readFileSync(path, 'utf8'))
  for (const entry of tokenFiles(document)) {
    const tokenFile = isAbsolute(entry.tokenFile) ? entry.tokenFile : join(dirname(path), entry.tokenFile)
    config.users = config.users.map((user) =>
      user.name === entry.user ? { ...user, authProvider: { name: 'tokenFile', config: { tokenFile } } } : user,
    )
  }
}

interface KubeconfigDocument {
  readonly users?: readonly { readonly name?: string; readonly user?: { readonly tokenFile?: string } | null }[] | null
}

function tokenFiles(document: unknown): { user: string; tokenFile: string }[] {
  const users = (document as KubeconfigDocument | null)?.users ?? []
  return users.flatMap(({ name, user }) =>
    name !== undefined && typeof user?.tokenFile === 'string' ? [{ user: name, tokenFile: user.tokenFile }] : [],
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
