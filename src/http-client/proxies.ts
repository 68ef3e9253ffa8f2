import { BlockList, isIP } from 'node:net'
import { domainToASCII } from 'node:url'

/** Proxies from the environment, which `src/config.ts` reads. */
export interface ProxyOptions {
  /** URL of the proxy for http URLs (`HTTP_PROXY`). Default: none. */
  readonly httpProxy?: string | undefined
  /** URL of the proxy for https URLs (`HTTPS_PROXY`). Default: none, whatever httpProxy is. */
  readonly httpsProxy?: string | undefined
  /**
   * What is reached without a proxy (`NO_PROXY`), comma-separated: a domain with all below it, `.domain` or `*.domain`
   * for those below it alone, an address, a CIDR; each but the last with `:port` if that port alone is meant; `*` for
   * everything. An entry that is none of these matches nothing.
   */
  readonly noProxy?: string | undefined
}

/** A proxy cannot be used. The message names the setting, and never its value, which may hold a password. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError'
  readonly code = 'InvalidProxy'
}

/**
 * The URL of a proxy; `host:port` means plain http, as with kubectl and curl. Undefined if it is empty.
 *
 * @param setting names the setting in the message
 * @throws ProxyError if it is no URL of an http or https proxy
 */
export function proxyURL(setting: string, text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  const given = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url !== undefined && ['http:', 'https:'].includes(url.protocol)) return url.href
  throw new ProxyError(
    `${setting} is not the address of an http or https proxy: use HOST:PORT or a URL such as http://proxy.example.com:3128`,
  )
}

/**
 * The proxy through which `url` is reached; undefined if it is reached without one. Decides as kubectl does
 * (golang.org/x/net/http/httpproxy), save that loopback addresses are not exempt by themselves.
 */
export function proxyFor(url: string, { httpProxy, httpsProxy, noProxy = '' }: ProxyOptions): string | undefined {
  const { protocol, hostname, port } = new URL(url)
  const isSecure = protocol === 'https:'
  const target = { host: unbracketed(hostname), port: port || (isSecure ? '443' : '80') }
  const isExempt = noProxy.split(/[,\s]+/).some((entry) => entry !== '' && covers(entry.toLowerCase(), target))
  return isExempt ? undefined : (isSecure ? httpsProxy : httpProxy) || undefined
}

/** Whether a URL leads to this machine, which no proxy can do. */
export function isLoopback(url: string): boolean {
  const host = unbracketed(new URL(url).hostname)
  return host === 'localhost' || inSubnet(host, '127.0.0.0', 8) || inSubnet(host, '::1', 128)
}

interface HostPort {
  readonly host: string
  readonly port: string | undefined
}

function covers(entry: string, target: HostPort): boolean {
  if (entry === '*') return true
  const [network = '', length] = entry.split('/')
  if (length !== undefined) return /^\d{1,3}$/.test(length) && inSubnet(target.host, network, Number(length))
  const { host, port } = hostPort(entry)
  if (port !== undefined && port !== target.port) return false
  if (isIP(host) !== 0) return inSubnet(target.host, host, bits(host))
  const domain = domainToASCII(host.replace(/^\*?\./, ''))
  if (domain === '') return false
  const isBelow = target.host.endsWith(`.${domain}`)
  return isBelow || (!/^\*?\./.test(host) && target.host === domain)
}

function inSubnet(address: string, network: string, length: number): boolean {
  if (isIP(address) === 0 || isIP(network) === 0 || length > bits(network)) return false
  const list = new BlockList()
  list.addSubnet(network, length, family(network))
  return list.check(address, family(address))
}

function hostPort(entry: string): HostPort {
  if (isIP(entry) !== 0) return { host: entry, port: undefined }
  const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? []
  return { host: unbracketed(host), port }
}

function unbracketed(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

function family(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}

function bits(address: string): number {
  return isIP(address) === 4 ? 32 : 128
}
