import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { ProxyOptions } from './api/dispatcher.ts'

/** Where a pod finds the namespace it runs in. */
const SERVICE_ACCOUNT_NAMESPACE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace'

/** What the environment says; flags come before it. The only reader of the environment and of files of configuration. */
export interface Environment {
  /** Namespace of the operator's pod (`POD_NAMESPACE`, else the service account's). */
  readonly podNamespace: string | undefined
  /** Names this process to people: the pod's name, else the host's. */
  readonly identity: string
  readonly proxies: ProxyOptions
  /** A receiver of traces is named by OTEL_*, and nothing there forbids it. The OpenTelemetry SDK reads the rest of these itself. */
  readonly tracesConfigured: boolean
  /** Nothing of OTEL_* says that there shall be no traces. */
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
    proxies: {
      httpProxy: env.HTTP_PROXY ?? env.http_proxy,
      httpsProxy: env.HTTPS_PROXY ?? env.https_proxy,
      noProxy: env.NO_PROXY ?? env.no_proxy,
    },
  }
}

/** The environment of a child process that calls a server on this machine: no proxy stands in between. */
export function environmentForLoopback(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const noProxy = [env.NO_PROXY ?? env.no_proxy, '127.0.0.1'].filter(Boolean).join(',')
  return { ...env, NO_PROXY: noProxy, no_proxy: noProxy }
}

/** The version in package.json, which lies beside `src` and `dist` alike. */
export function packageVersion(): string {
  const { version }: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return version
}

function serviceAccountNamespace(): string | undefined {
  return existsSync(SERVICE_ACCOUNT_NAMESPACE) ? readFileSync(SERVICE_ACCOUNT_NAMESPACE, 'utf8').trim() : undefined
}
