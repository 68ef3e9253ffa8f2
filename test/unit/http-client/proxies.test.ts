import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { isLoopback, ProxyError, proxyFor, proxyURL } from '../../../src/http-client/proxies.ts'

interface Row {
  readonly httpProxy: string
  readonly httpsProxy: string
  readonly noProxy: string
  readonly url: string
  readonly proxy: string | null
}

/** What kubectl's own module decides: `httpproxy/main.go` prints it. */
const rows = readFileSync(new URL('httpproxy.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line): Row => JSON.parse(line))

describe('a proxy', () => {
  test('is used where kubectl uses it', () => {
    expect(rows.length).toBeGreaterThan(300)
    const differing = rows.filter(({ httpProxy, httpsProxy, noProxy, url, proxy }) => {
      const proxies = {
        httpProxy: proxyURL('HTTP_PROXY', httpProxy),
        httpsProxy: proxyURL('HTTPS_PROXY', httpsProxy),
        noProxy,
      }
      const expected = proxy === null ? undefined : new URL(proxy).href
      return proxyFor(url, proxies) !== expected
    })
    expect(differing).toEqual([])
  })

  test.each(['socks5://proxy:1080', 'http://', 'pro xy:3128', 'ftp://u:secret@proxy'])(
    'that cannot be one is refused by its setting, without the value: %s',
    (text) => {
      const refuse = () => proxyURL('HTTPS_PROXY', text)
      expect(refuse).toThrow(ProxyError)
      expect(refuse).toThrow(/^HTTPS_PROXY is not .*: use HOST:PORT/)
      expect(refuse).not.toThrow(/secret/)
    },
  )

  test('leads to no address of this machine', () => {
    const here = ['https://localhost:6443', 'https://127.0.0.1', 'https://127.9.9.9:1', 'https://[::1]:6443']
    expect(here.filter((url) => !isLoopback(url))).toEqual([])
    expect(['https://128.0.0.1', 'https://[::2]', 'https://localhost.example.com'].filter(isLoopback)).toEqual([])
  })
})
