import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { PageServer } from '../../../../src/cli/ui/server.ts'
import { PageCluster, shop, working } from '../../../builders/page-cluster.ts'
import { until } from '../../../cluster/support/wait.ts'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** A browser that opened the link of the page, with full control over its headers. */
class Reader {
  readonly #port: string
  #cookie = ''

  private constructor(port: string) {
    this.#port = port
  }

  static async open({ link }: PageServer): Promise<Reader> {
    const { port, search } = new URL(link)
    const reader = new Reader(port)
    const { headers } = await reader.get(`/${search}`)
    reader.#cookie = String(headers['set-cookie']).split(';')[0] ?? ''
    return reader
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const all = { cookie: this.#cookie, ...headers }
    const sent = request({ host: '127.0.0.1', port: this.#port, path, method, headers: all }, (response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString()
        // The stream of changes does not end: its first event is the answer.
        if (path === '/changes' && body.includes('\n\n')) sent.destroy()
      })
      response.on('close', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
    sent.on('error', reject)
    sent.end()
    return promise
  }

  async json(path: string): Promise<Record<string, unknown>> {
    return JSON.parse((await this.get(path)).body) as Record<string, unknown>
  }

  async rows(): Promise<readonly Record<string, unknown>[]> {
    const { body } = await this.get('/changes')
    return JSON.parse(body.replace(/^event: start\ndata: /, '')).rows
  }
}

/** The failing step, its sentence and command. */
async function failure(reader: Reader, edge = 'web/shop') {
  const { failing, sentence, command } = await reader.json(`/edge?edge=${edge}`)
  return { failing, sentence, command }
}

describe('the server', () => {
  test('sends every answer with a policy that allows only its own files, and lets nobody store it', async () => {
    await using cluster = await PageCluster.open(shop())
    const reader = await Reader.open(await cluster.serve())
    for (const path of [
      '/',
      '/app.js',
      '/model.js',
      '/page.css',
      '/preact.js',
      '/htm.js',
      '/edge?edge=web/shop',
      '/none',
    ]) {
      const { headers, status } = await reader.get(path)
      expect({ path, status }).toEqual({ path, status: path === '/none' ? 404 : 200 })
      const policy = String(headers['content-security-policy'])
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/)
      expect(policy).not.toMatch(/unsafe|data:|\*|https?:/)
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
      })
      expect(headers['access-control-allow-origin']).toBeUndefined()
    }
  })

  test('has no inline script or style, and imports by path', async () => {
    await using cluster = await PageCluster.open()
    const reader = await Reader.open(await cluster.serve())
    const { body } = await reader.get('/')
    expect(body).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/)
    expect((await reader.get('/app.js')).body).toMatch(/from '\/preact\.js'/)
  })

  test('refuses what is not a GET, other hosts, other origins, and everyone without the cookie', async () => {
    await using cluster = await PageCluster.open(shop())
    const reader = await Reader.open(await cluster.serve())
    expect((await reader.get('/edge?edge=web/shop', {}, 'POST')).status).toBe(405)
    expect((await reader.get('/edge?edge=web/shop', { host: 'rebound.example' })).status).toBe(421)
    expect((await reader.get('/edge?edge=web/shop', { origin: 'http://evil.example' })).status).toBe(403)
    const refused = await reader.get('/edge?edge=web/shop', { cookie: '' })
    expect(refused.status).toBe(401)
    expect(refused.body).not.toContain('shop')
  })

  test('sends no Secret, and nothing of a resource that the page does not show', async () => {
    const canary = 'canary-3f9a'
    const response = { body: canary, headers: { 'x-key': canary }, statusCode: 503 }
    const [account, group, policy, edge] = shop()
    const spec = {
      ...(edge?.spec as object),
      trafficPolicy: { inbound: [{ name: 'auth', actions: [{ type: 'jwt-validation', config: { secret: canary } }] }] },
      metadata: canary,
    }
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': canary }
    await using cluster = await PageCluster.open(
      [
        account,
        group,
        policy,
        { ...edge, spec },
        working('Backend', 'away', { spec: { type: 'HTTPResponse', httpResponse: response } }),
      ].map((resource) => ({ ...resource, metadata: { ...resource?.metadata, annotations } }) as never),
    )
    const data = { apiKey: Buffer.from(canary).toString('base64') }
    const key = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'key', namespace: 'web', uid: 'key', resourceVersion: '1' },
      data,
    }
    cluster.others.set('secrets', [key])
    const reader = await Reader.open(await cluster.serve())
    const paths = ['/changes', '/edge?edge=web/shop', '/history?edge=web/shop']
    const bodies = await Promise.all(paths.map(async (path) => (await reader.get(path)).body))
    expect(bodies.join('\n')).toContain('jwt-validation')
    expect(bodies.join('\n')).not.toContain(canary)
    const secretsRead = (): number => cluster.kube.requests.filter(({ path }) => path.endsWith('/secrets/key')).length
    expect(secretsRead()).toBe(0)
    // Only a judgement reads the key of the account, as culvert check does.
    const { body } = await reader.get('/judge?edge=web/shop&from=192.0.2.1')
    expect(secretsRead()).toBe(1)
    expect(body).toContain('the account cannot be read')
    expect(body).not.toMatch(new RegExp(`${canary}|${data.apiKey}`))
  })

  test('shows text of others in printable characters', async () => {
    const [account, group, policy, edge] = shop()
    const hostports = ['shop\u202E.example:443\u0007']
    const odd = { ...edge, status: { ...edge?.status, hostports } } as never
    await using cluster = await PageCluster.open([account, group, policy, odd].flatMap((each) => each ?? []))
    const reader = await Reader.open(await cluster.serve())
    expect((await reader.rows())[0]?.hosts).toEqual(['shop\\u202e.example:443\\u0007'])
  })

  test('names what the caller may not list', async () => {
    await using cluster = await PageCluster.open(shop(), ['IPPolicy'])
    const reader = await Reader.open(await cluster.serve())
    const { body } = await reader.get('/changes')
    expect(body).toContain('you are not allowed to list ippolicies.culvert.dev')
    await using blind = await PageCluster.open(shop(), ['Edge'])
    await expect(blind.serve()).rejects.toMatchObject({ code: 'Forbidden' })
  })
})

describe('an edge', () => {
  test('that works has no failing step', async () => {
    await using cluster = await PageCluster.open(shop())
    const reader = await Reader.open(await cluster.serve())
    expect(await reader.rows()).toMatchObject([
      {
        id: 'web/shop',
        look: 'ok',
        state: 'Works',
        access: 'addresses',
        answers: '2 tunnels online',
        hosts: ['shop.tunnel.example:443'],
      },
    ])
    expect(await failure(reader)).toEqual({})
  })

  test('without tunnels fails at its backend, with the command of culvert why', async () => {
    await using cluster = await PageCluster.open(shop('web', 'shop', 0))
    const reader = await Reader.open(await cluster.serve())
    expect((await reader.rows())[0]).toMatchObject({ look: 'bad', state: 'Fails', answers: 'nobody: no tunnel online' })
    expect(await failure(reader)).toEqual({
      failing: 'backend',
      sentence: 'Backend/shop: no tunnel with these labels is online: start an agent.',
      command: 'culvert doctor -n web',
    })
  })

  test('whose weights are all 0, whose policy allows nobody, and whose traffic policy denies everyone, fails there', async () => {
    const [account, group, policy, edge] = shop()
    const weighted = working('Backend', 'split', {
      spec: { type: 'Weighted', weighted: { backendRefs: [{ name: 'shop', weight: 0 }] } },
    })
    const denying = {
      ...policy,
      status: { ...policy?.status, rules: [{ id: 'r', cidr: '0.0.0.0/0', action: 'deny' }] },
    } as never
    const withSpec = (spec: object): never => ({ ...edge, spec: { ...(edge?.spec as object), ...spec } }) as never
    const all = [account, group, weighted].flatMap((each) => each ?? [])
    const fails = async (resources: readonly never[]): Promise<unknown> => {
      await using cluster = await PageCluster.open([...all, ...resources])
      const reader = await Reader.open(await cluster.serve())
      return Object.values(await failure(reader))
    }
    const edit = '--field-manager=culvert-user'
    expect(await fails([policy as never, withSpec({ backend: { name: 'split' } })])).toEqual([
      'backend',
      'Backend/split: all weights are 0: no child receives traffic.',
      `kubectl edit backends.culvert.dev/split -n web ${edit}`,
    ])
    expect(await fails([denying, edge as never])).toEqual([
      'ip-policies',
      'IPPolicy/shop: no rule allows any address: nobody can connect.',
      `kubectl edit ippolicies.culvert.dev/shop -n web ${edit}`,
    ])
    const inbound = [{ name: 'closed', actions: [{ type: 'deny' }] }]
    expect(await fails([policy as never, withSpec({ trafficPolicy: { inbound } })])).toEqual([
      'traffic-policy',
      'closed: deny always: the rule has no expression, and denies every connection.',
      `kubectl edit edges.culvert.dev/shop -n web ${edit}`,
    ])
    expect(await fails([policy as never, withSpec({ backend: { name: 'absent' } })])).toEqual([
      'backend',
      'Backend/absent: there is no such resource.',
      `kubectl edit edges.culvert.dev/shop -n web ${edit}`,
    ])
    expect(await fails([policy as never, withSpec({ backend: { name: 'shop', enabled: false } })])).toEqual([
      'backend',
      'The backend is disabled: connections are closed.',
      `kubectl edit edges.culvert.dev/shop -n web ${edit}`,
    ])
  })

  test('changes on the page when a resource behind it changes', async () => {
    await using cluster = await PageCluster.open([...shop(), ...shop('dev', 'other')])
    const reader = await Reader.open(await cluster.serve())
    const looks = async (): Promise<unknown> => (await reader.rows()).map(({ id, look }) => `${id} ${look}`)
    expect(await looks()).toEqual(['web/shop ok', 'dev/other ok'])
    for (const resource of shop('web', 'shop', 0)) cluster.apply(resource)
    await until('the row follows', async () => String(await looks()) === 'web/shop bad,dev/other ok' || undefined)
  })

  test('is judged for an address by what resources show, where the account may not be read', async () => {
    await using cluster = await PageCluster.open(shop())
    const reader = await Reader.open(await cluster.serve())
    expect(await reader.json('/judge?edge=web/shop&from=192.0.2.1')).toMatchObject({ verdict: 'refused' })
    expect(await reader.json('/judge?edge=web/shop&from=nowhere')).toMatchObject({
      error: expect.stringContaining('not an IP address'),
    })
    expect(await reader.json('/edge?edge=web/absent')).toMatchObject({
      error: expect.stringContaining('there is no Edge'),
    })
  })

  test('has the Events about it and what it uses, and says that connections cannot be seen', async () => {
    await using cluster = await PageCluster.open(shop())
    const event = (kind: string, name: string, note: string) => ({
      metadata: { name: note, namespace: 'web' },
      ...{
        type: 'Warning',
        reason: 'Refused',
        note,
        eventTime: '2026-11-24T09:00:00Z',
        regarding: { kind, namespace: 'web', name },
      },
    })
    cluster.others.set('events', [event('Backend', 'shop', 'about it'), event('Backend', 'other', 'about another')])
    const connection = {
      at: '2026-11-24T09:00:00Z',
      source: '192.0.2.1',
      host: 'h',
      verdict: 'refused',
      rule: 'r',
      reason: 'denied',
    }
    const own = await Reader.open(await cluster.serve())
    const { events, unread, connections } = await own.json('/history?edge=web/shop')
    expect(events).toMatchObject([{ note: 'about it', object: 'Backend/shop' }])
    expect(unread).toEqual([expect.stringContaining('Audit records')])
    expect(connections).toBeUndefined()
    const emulated = await Reader.open(await cluster.serve(undefined, () => [connection]))
    expect(await emulated.json('/history?edge=web/shop')).toMatchObject({ connections: [connection] })
  })
})
