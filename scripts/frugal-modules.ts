import http from 'node:http'
import type { Plugin } from 'rolldown'

/** Modules of which the program gets only what it uses, by the id that stands for each. */
const FRUGAL: Readonly<Record<string, () => string>> = {
  '\0http': frugalHttp,
  '\0undici': frugalUndici,
  '\0http2': noHttp2,
  '\0milo': noMilo,
  '\0proxy-agents': noProxyAgents,
}

/** Takes modules that cost every process memory without being used out of the program. */
export const frugalModules: Plugin = {
  name: 'frugal-modules',
  resolveId: (id, importer = '', { kind }) => {
    if (kind === 'import-statement' && /^(node:)?http$/.test(id)) return '\0http'
    if (kind === 'import-statement' && id === 'undici') return '\0undici'
    if (/^(socks|socks-proxy-agent|hpagent)$/.test(id)) return '\0proxy-agents'
    if (/undici/.test(importer) && /\/milo\//.test(id)) return '\0milo'
    return id === 'node:http2' && /undici/.test(importer) ? '\0http2' : undefined
  },
  load: (id) => FRUGAL[id]?.(),
}

/**
 * `import` of `node:http` reads every export of it, and that of `WebSocket` loads Node's own copy of undici: 13 MiB and
 * 30 ms. These are the exports that are plain values; the build fails on an import of another.
 */
function frugalHttp(): string {
  const plain = Object.entries(Object.getOwnPropertyDescriptors(http)).filter(([, { get }]) => get === undefined)
  const names = plain.map(([name]) => name).join(', ')
  return `const http = process.getBuiltinModule('node:http')\nexport default http\nexport const { ${names} } = http`
}

/**
 * undici's connections without its caches, mocks and WebSockets, and `fetch` only once it is called: generated classes
 * of the Kubernetes client name it. The build fails on an import of anything else.
 */
function frugalUndici(): string {
  return `
    import Agent from 'undici/lib/dispatcher/agent.js'
    import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
    import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
    import buildConnector from 'undici/lib/core/connect.js'
    import errors from 'undici/lib/core/errors.js'
    import request from 'undici/lib/api/api-request.js'
    Dispatcher.prototype.request = request
    export const fetch = async (...given) => (await import('undici/lib/web/fetch/index.js')).default.fetch(...given)
    export { Agent, buildConnector, Dispatcher, errors, ProxyAgent }
  `
}

/** A parser that undici tries out where an environment variable asks for it. */
function noMilo(): string {
  return `throw new Error('milo is not part of this program')`
}

/**
 * The Kubernetes client makes an agent for requests of its own; there are none, and connections through proxies are
 * undici's.
 */
function noProxyAgents(): string {
  return `
    class Unused {}
    export { Unused as HttpProxyAgent, Unused as HttpsProxyAgent, Unused as SocksProxyAgent, Unused as SocksClient }
  `
}

/** undici does without HTTP/2 where Node was built without it; no connection of ours speaks it. */
function noHttp2(): string {
  return `throw new Error('HTTP/2 is not part of this program')`
}
