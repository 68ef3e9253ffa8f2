import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Gate, type Request } from '../../../../src/cli/ui/gate.ts'

const PORT = 4711
const HOST = `127.0.0.1:${PORT}`

/** A gate whose cookie and token are known. */
function opened(): { readonly gate: Gate; readonly token: string; readonly cookie: string } {
  const secrets = ['c0ffee', '70cebe']
  const gate = new Gate(PORT, () => secrets.shift() ?? '')
  return { gate, token: '70cebe', cookie: `culvert-ui-${PORT}=c0ffee` }
}

function get(url: string, headers: Request['headers'] = {}): Request {
  return { method: 'GET', url, headers: { host: HOST, ...headers } }
}

describe('the token', () => {
  test('is exchanged once for a cookie that scripts and other sites do not get, and leaves the address', () => {
    const { gate, token, cookie } = opened()
    expect(gate.link).toBe(`http://${HOST}/?token=${token}`)
    expect(gate.admit(get(`/?token=${token}&edge=web/shop`))).toEqual({
      type: 'entered',
      cookie: `${cookie}; HttpOnly; SameSite=Strict; Path=/`,
      location: '/?edge=web%2Fshop',
    })
    expect(gate.admit(get(`/?token=${token}`))).toMatchObject({ type: 'refused', status: 401 })
    expect(gate.admit(get('/', { cookie }))).toMatchObject({ type: 'admitted' })
  })

  test('does nothing more in the browser that has used it', () => {
    const { gate, token, cookie } = opened()
    gate.admit(get(`/?token=${token}`))
    expect(gate.admit(get(`/?token=${token}`, { cookie }))).toMatchObject({ type: 'entered', location: '/' })
  })

  test('cannot be guessed, and a wrong one does not use it up', () => {
    const { gate, token } = opened()
    fc.assert(
      fc.property(fc.string(), (guess) => {
        fc.pre(guess !== token)
        const admission = gate.admit(get(`/?token=${encodeURIComponent(guess)}`))
        expect(admission).toMatchObject({ type: 'refused', status: 401 })
      }),
    )
    expect(gate.admit(get(`/?token=${token}`))).toMatchObject({ type: 'entered' })
  })
})

describe('requests with the cookie', () => {
  const { gate, cookie } = opened()

  test.for(['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', undefined])('by %s are refused', (method) => {
    expect(gate.admit({ ...get('/', { cookie }), method })).toMatchObject({ type: 'refused', status: 405 })
  })

  test.for([
    'evil.example',
    `evil.example:${PORT}`,
    `localhost:${PORT}`,
    '127.0.0.1',
    `127.0.0.1:${PORT + 1}`,
    `${HOST}.evil.example`,
    '',
    undefined,
  ])('to the host %s, which may be a name rebound to this machine, are refused', (host) => {
    expect(gate.admit(get('/edge', { cookie, host }))).toMatchObject({ type: 'refused', status: 421 })
  })

  test.for(['http://evil.example', 'http://127.0.0.1:3000', `https://${HOST}`, 'null'])(
    'from the origin %s are refused',
    (origin) => {
      expect(gate.admit(get('/edge', { cookie, origin }))).toMatchObject({ type: 'refused', status: 403 })
    },
  )

  test.for(['cross-site', 'same-site'])('by pages that browsers call %s are refused', (site) => {
    const script = { cookie, 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }
    expect(gate.admit(get('/edge', script))).toMatchObject({ type: 'refused', status: 403 })
    const frame = { cookie, 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }
    expect(gate.admit(get('/', frame))).toMatchObject({ type: 'refused', status: 403 })
  })

  test('by the page itself, and by a link that a person opens, are admitted', () => {
    const own = { cookie, origin: `http://${HOST}`, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }
    expect(gate.admit(get('/edge?edge=web/shop', own))).toMatchObject({ type: 'admitted' })
    const link = { cookie, 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    expect(gate.admit(get('/?edge=web/shop', link))).toMatchObject({ type: 'admitted' })
  })

  test.for(['//evil.example/', 'http://evil.example/', '/\\evil.example/'])(
    'for %s never lead to another server',
    (url) => {
      const token = `${url}?token=70cebe`
      const admission = gate.admit(get(token, { cookie }))
      expect(admission.type).toBe('refused')
    },
  )
})

test.for(['', 'culvert-ui-4711=', 'culvert-ui-4711=c0ffef', 'culvert-ui-4712=c0ffee', 'c0ffee'])(
  'the cookie %s admits nobody',
  (cookie) => {
    expect(opened().gate.admit(get('/edge', { cookie }))).toMatchObject({ type: 'refused', status: 401 })
  },
)
