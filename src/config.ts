import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { delimiter } from 'node:path'
import { type ProxyOptions, proxyURL } from './http-client/proxies.ts'

/** File in a pod that holds its namespace. */
const SERVICE_ACCOUNT_NAMESPACE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace'

/** Settings from the environment; flags override them. Nothing else reads the environment or configuration files. */
export interface Environment {
  /** Namespace of the operator's pod (`POD_NAMESPACE`, else the service account's). */
  readonly podNamespace: string | undefined
  /** Name of this process for people: the pod's name, else the host's. */
  readonly identity: string
  /** The files that KUBECONFIG names. */
  readonly kubeconfigs: readonly string[]
  /** HTTP_PROXY, HTTPS_PROXY and NO_PROXY. @throws ProxyError if one names no proxy that can be used */
  readonly proxies: ProxyOptions
  /** The account that commands read unless flags name another: CULVERT_BASE_URL, _API_KEY and _VERSION_HEADER. */
  readonly account: {
    readonly baseURL: string | undefined
    readonly apiKey: string | undefined
    readonly versionHeader: string | undefined
  }
  /** Secrets of `culvert emulator`: CULVERT_EMULATOR_API_KEY and _ADMIN_TOKEN. Arguments of a process are no secret. */
  readonly emulator: {
    readonly apiKey: string | undefined
    readonly adminToken: string | undefined
  }
  /**
   * OTEL_* names a receiver of traces and does not disable tracing. The OpenTelemetry SDK reads the rest of these
   * itself.
   */
  readonly tracesConfigured: boolean
  /** OTEL_* does not disable tracing. */
  readonly tracesAllowed: boolean
}

export function readEnvironment(env: NodeJS.ProcessEnv = process.env): Environment {
  const tracesAllowed = env.OTEL_SDK_DISABLED?.toLowerCase() !== 'true' && env.OTEL_TRACES_EXPORTER !== 'none'
  const receiver = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT
  return {
    tracesAllowed,
    tracesConfigured: tracesAllowed && Boolean(receiver),
    podNamespace: env.POD_NAMESPACE ?? serviceAccountNamespace(),
    identity: env.POD_NAME ?? hostname(),
    account: {
      baseURL: env.CULVERT_BASE_URL || undefined,
      apiKey: env.CULVERT_API_KEY || undefined,
      versionHeader: env.CULVERT_VERSION_HEADER || undefined,
    },
    emulator: {
      apiKey: env.CULVERT_EMULATOR_API_KEY || undefined,
      adminToken: env.CULVERT_EMULATOR_ADMIN_TOKEN || undefined,
    },
    kubeconfigs: (env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== ''),
    // Read on access: a command that calls no server needs no proxy.
    get proxies() {
      return {
        httpProxy: proxyURL('HTTP_PROXY', env.HTTP_PROXY || env.http_proxy),
        httpsProxy: proxyURL('HTTPS_PROXY', env.HTTPS_PROXY || env.https_proxy),
        noProxy: env.NO_PROXY || env.no_proxy,
      }
    },
  }
}

/** The environment of a child process that calls a server on this machine, without a proxy in between. */
export function environmentForLoopback(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const noProxy = [env.NO_PROXY || env.no_proxy, '127.0.0.1'].filter(Boolean).join(',')
  return { ...env, NO_PROXY: noProxy, no_proxy: noProxy }
}

/** The version in package.json, which is next to both `src` and `dist`. */
export function packageVersion(): string {
  const { version }: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return version
}

function serviceAccountNamespace(): string | undefined {
  return existsSync(SERVICE_ACCOUNT_NAMESPACE) ? readFileSync(SERVICE_ACCOUNT_NAMESPACE, 'utf8').trim() : undefined
}
