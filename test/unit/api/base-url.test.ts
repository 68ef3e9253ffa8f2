import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkBaseURL } from '../../../src/api/base-url.ts'

const open = {
  allowedHosts: ['api.example.com', 'api.example.com:8443', '*.internal.example', '[::1]:4040', 'LOCALHOST:80'],
}

describe('a base URL', () => {
  it.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://API.example.com:443/', 'https://api.example.com'],
    ['https://api.example.com:8443/v1/', 'https://api.example.com:8443/v1'],
    ['https://a.b.internal.example', 'https://a.b.internal.example'],
    ['https://[::1]:4040', 'https://[::1]:4040'],
  ])('%s is allowed as %s', (url, expected) => {
    expect(checkBaseURL(url, open)).toEqual({ ok: true, url: expected })
  })

  it.each([
    'https://api.example.com:9000',
    'https://internal.example',
    'https://evilinternal.example',
    'https://api.example.com.evil.example',
    'https://evil.example/api.example.com',
    'https://api.example.com.',
    'https://a.internal.example:8443',
    'http://api.example.com',
    'https://user:hunter2@api.example.com',
    'https://api.example.com@evil.example',
    'https://api.example.com?x=1',
    'https://api.example.com/#f',
    'https://api.example.com/?',
    'ftp://api.example.com',
    'file:///etc/passwd',
    'api.example.com',
    'https://169.254.169.254/latest',
    'https://user:hunter2@bad host',
    'https://127.0.0.1',
    'https://2130706433',
    'https://0x7f.1',
    'https://0177.0.0.1',
    'https://127.1',
    'https://10.0.0.1',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]:4040',
    'https://[fe80::1]',
    'https://metadata.google.internal',
    'https://kubernetes.default.svc',
    'https://api.example.com.:443',
    'https://аpi.example.com',
    'https://xn--pi-7kc.example.com',
    'https://api.example.com\\@evil.example',
    'https://api.example.com%2eevil.example',
    'https://api.example.com:443@evil.example',
    'https:evil.example',
    'https://api.exam\nple.com',
    ' https://api.example.com',
    'https://api.example.com/\u202egnp.exe',
    'no\nURL at all',
    '',
  ])('%s is refused with a message that names the field and no password', (url) => {
    const check = checkBaseURL(url, open)
    expect(check).toMatchObject({ ok: false, message: expect.stringMatching(/^baseURL: /) })
    expect(JSON.stringify(check)).not.toContain('hunter2')
    expect(check.ok ? '' : check.message).not.toMatch(/[\p{Cc}\u202e]/u)
  })

  it.each([
    ['http://emulator.svc:4040', true],
    ['http://EMULATOR.svc:4040/v1', true],
    ['http://emulator.svc', false],
    ['http://emulator.svc:80', false],
    ['https://emulator.svc:4040', false],
    ['http://api.example.com', false],
    ['http://api.example.com:4040', false],
    ['http://a.emulator.svc:4040', false],
    ['http://emulator.svc.evil.example:4040', false],
    ['http://a.wide.example', false],
    ['https://api.example.com', true],
  ])('%s is judged by its own host where one host alone may be plain http', (url, expected) => {
    const allowedHosts = ['api.example.com', 'http://emulator.svc:4040', 'http://*.wide.example']
    const check = checkBaseURL(url, { allowedHosts })
    expect(check).toMatchObject({ ok: expected })
    if (!check.ok) expect(check.message).toMatch(/^baseURL: /)
  })

  it('may use plain http to every host only where that is allowed', () => {
    expect(checkBaseURL('http://localhost', open).ok).toBe(false)
    expect(checkBaseURL('http://localhost', { ...open, allowHTTP: true })).toEqual({
      ok: true,
      url: 'http://localhost',
    })
  })

  it('is allowed by nothing when the list is empty', () => {
    expect(checkBaseURL('https://api.example.com', { allowedHosts: [] }).ok).toBe(false)
  })
})

describe('any URL', () => {
  it('is allowed only with the very host and port of the list', () => {
    const port = fc.integer({ min: 1, max: 65_535 })
    fc.assert(
      fc.property(
        fc.webUrl({ withFragments: true, withQueryParameters: true }),
        port,
        fc.domain(),
        port,
        (url, urlPort, host, allowedPort) => {
          const aimed = new URL(url)
          aimed.port = String(urlPort)
          const check = checkBaseURL(aimed.href, { allowedHosts: [`${host}:${allowedPort}`], allowHTTP: true })
          if (!check.ok) return
          const effective = aimed.port === '' ? (aimed.protocol === 'https:' ? 443 : 80) : Number(aimed.port)
          expect([aimed.hostname, effective]).toEqual([host, allowedPort])
        },
      ),
    )
  })

  it('is allowed when its host is on the list and nothing else speaks against it, and then means the same origin', () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ['https'] }), (url) => {
        const aimed = new URL(url)
        const check = checkBaseURL(url, { allowedHosts: [aimed.host] })
        expect(check.ok).toBe(!/[?#]/.test(url))
        if (check.ok) expect(new URL(check.url).origin).toBe(aimed.origin)
      }),
    )
  })

  it('never makes the check throw', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (url, allowedHosts) => void checkBaseURL(url, { allowedHosts })),
    )
  })
})
