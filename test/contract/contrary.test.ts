import { expect, test } from 'vitest'
import { CHOICES } from '../../src/emulator/choices/choice-table.ts'
import { ALTERNATIVES, DECIDED, withAlternative } from '../../src/emulator/choices/choices.ts'
import type { Resource } from '../builders/contract/api-client.ts'
import { caPem } from '../builders/contract/ca-pem.ts'
import { sshKeys } from '../builders/contract/ssh-keys.ts'
import { startWorld, type World } from '../builders/contract/world.ts'

type Check = (world: World) => Promise<void>
type Body = Readonly<Record<string, unknown>>

/** The effect of each alternative for a client, by name and value. */
const CHECKS: Readonly<Record<string, Check>> = {
  'error-body=error': (world) => refused(world, /^\{"error":"unknown field/),
  'error-body=message': (world) => refused(world, /^\{"message":"unknown field/),
  'error-body=nested': (world) => refused(world, /^\{"error":\{"message":"unknown field.*"type":"unknownField"\}\}$/),
  'error-body=problem': (world) =>
    refused(world, /^\{"type":"about:blank","title":"unknownField","status":400,"detail":/),
  'error-body=text': (world) => refused(world, /^unknown field "nonsense"$/),
  'error-body=none': (world) => refused(world, /^$/),
  'refusal-status=unprocessable': async (world) => {
    expect((await world.api.call('POST', '/ip_policies', { body: { nonsense: 1 } })).status).toBe(422)
    expect((await world.api.call('POST', '/ip_policies', { body: '{' })).status).toBe(400)
    expect(await taken(world)).toBe(409)
  },
  'refusal-status=bad-request': async (world) => {
    expect((await world.api.call('POST', '/ip_policies', { body: { nonsense: 1 } })).status).toBe(400)
    expect(await taken(world)).toBe(400)
  },
  'refusal-status=precondition-failed': async (world) => {
    expect((await world.api.call('POST', '/ip_policies', { body: { nonsense: 1 } })).status).toBe(412)
    expect((await world.api.call('POST', '/ip_policies', { body: '{' })).status).toBe(400)
    expect(await taken(world)).toBe(412)
  },
  'unknown-id=gone': async (world) => {
    for (const method of ['GET', 'DELETE'] as const) {
      expect((await world.api.call(method, '/ip_policies/ipp_none')).status).toBe(410)
    }
    expect((await world.api.call('GET', '/no_such_path')).status).toBe(404)
  },
  'unknown-reference=not-found': (world) => namesNothing(world, 404),
  'unknown-reference=conflict': (world) => namesNothing(world, 409),
  'update-answer=empty-object': (world) => updatesAnswered(world, 200, '{}'),
  'update-answer=nothing': (world) => updatesAnswered(world, 204, ''),
  'list-order=oldest-first': async (world) => {
    const made = await policies(world, 3)
    expect(await pagedIds(world, '?limit=2')).toEqual(made)
  },
  'list-order=shuffled': async (world) => {
    const made = await policies(world, 12)
    const listed = await pagedIds(world, '?limit=5')
    expect(await pagedIds(world, '')).toEqual(listed)
    expect(listed.toSorted()).toEqual(made.toSorted())
    expect(listed).not.toEqual(made)
    expect(listed).not.toEqual(made.toReversed())
  },
  'page-size=three': (world) => pagesOf(world, 3),
  'page-size=one': (world) => pagesOf(world, 1),
  'next-page-uri=path': (world) => nextPage(world, /^\/ip_policies\?before_id=/),
  'next-page-uri=relative': (world) => nextPage(world, /^ip_policies\?before_id=/),
  'next-page-uri=query': (world) => nextPage(world, /^\?before_id=/),
  'last-page=absent': async (world) => {
    expect(await world.api.object(200, 'GET', '/ip_policies')).not.toHaveProperty('next_page_uri')
  },
  'empty-lists=null': async (world) => {
    expect(await world.api.object(200, 'GET', '/ip_policies')).toMatchObject({ ip_policies: null })
  },
  'uris=path': async (world) => {
    const policy = await world.api.create('ip_policies', {})
    expect(policy.uri).toBe(`/ip_policies/${policy.id}`)
    expect((await world.api.object(200, 'GET', '/ip_policies')).uri).toBe('/ip_policies')
    const rule = await world.api.create('ip_policy_rules', {
      ip_policy_id: policy.id,
      cidr: '10.0.0.0/8',
      action: 'deny',
    })
    expect(rule.ip_policy).toEqual({ id: policy.id, uri: policy.uri })
  },
  'unknown-fields=constant': async (world) => {
    const edge = await world.api.create('edges/tls', { tls_termination: {} })
    expect(edge).toHaveProperty('_links')
    expect(edge.tls_termination).toHaveProperty('_links')
    expect(await world.api.get('edges/tls', edge.id)).toEqual(edge)
    expect(edge.description).toBe('')
    const bot = await world.api.create('bot_users', { name: 'bot' })
    expect(bot).toMatchObject({ name: 'bot', metadata: '{}', description: 'of the service' })
  },
  'unknown-fields=changing': async (world) => {
    const { id, etag } = await world.api.create('ip_policies', {})
    expect((await world.api.get('ip_policies', id)).etag).not.toBe(etag)
  },
  'empties=absent': (world) => emptyPolicy(world, {}),
  'empties=null': (world) => emptyPolicy(world, { description: null, metadata: null }),
  'empties=empty': async (world) => {
    const backend = await world.api.create('backends/http_response', {})
    expect(backend).toMatchObject({ body: '', headers: {}, description: '' })
    const domain = await world.api.create('reserved_domains', { domain: world.serviceDomain() })
    expect(domain).toMatchObject({ region: null, cname_target: null, certificate: null })
  },
  'times=offset': (world) => createdAt(world, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+05:30$/),
  'times=fractions': (world) => createdAt(world, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000000000Z$/),
  'times=lower-case': (world) => createdAt(world, /^\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d\.0{12}z$/),
  'host-case=upper': async (world) => {
    const domain = world.serviceDomain()
    expect(await world.api.create('reserved_domains', { domain })).toMatchObject({ domain: domain.toUpperCase() })
    const edge = await world.api.create('edges/tcp', { hostports: [`${domain}:443`] })
    expect(edge.hostports).toEqual([`${domain.toUpperCase()}:443`])
    const acl = ['bind:*.a.example', 'bind:app=Shop']
    expect((await world.api.create('credentials', { acl })).acl).toEqual(['bind:*.A.EXAMPLE', 'bind:app=Shop'])
  },
  'header-names=capitalised': async (world) => {
    const backend = await world.api.create('backends/http_response', { headers: { 'x-my-header': 'a' } })
    expect(backend.headers).toEqual({ 'X-My-Header': 'a' })
  },
  'cidr=bare': async (world) => {
    expect(await cidrs(world)).toEqual(['192.0.2.7', '10.0.0.0/8', '2001:db8::1', '2001:db8::/32'])
  },
  'cidr=long': async (world) => {
    const zeros = (groups: number): string => ':0000'.repeat(groups)
    expect(await cidrs(world)).toEqual([
      '192.0.2.7/32',
      '10.0.0.0/8',
      `2001:0DB8${zeros(5)}:0001/128`,
      `2001:0DB8${zeros(6)}/32`,
    ])
  },
  'pem=rewrapped': async (world) => {
    const { ca_pem } = await world.api.create('certificate_authorities', { ca_pem: `# ours\n${caPem}` })
    const lines = String(ca_pem).split('\r\n')
    expect(lines.at(0)).toBe('-----BEGIN CERTIFICATE-----')
    expect(lines.at(1)).toHaveLength(76)
    const content = (pem: string): string => pem.replaceAll(/# ours|\s/g, '')
    expect(content(String(ca_pem))).toBe(content(caPem))
  },
  'pem=unwrapped': async (world) => {
    const { ca_pem } = await world.api.create('certificate_authorities', { ca_pem: caPem })
    expect(String(ca_pem).split('\n').slice(0, 2)).toEqual(['a certificate', '-----BEGIN CERTIFICATE-----'])
    const content = (pem: string): string => pem.replaceAll(/a certificate|\s/g, '')
    expect(content(String(ca_pem))).toBe(content(caPem))
  },
  'public-keys=no-comment': async (world) => {
    expect(await publicKey(world)).toBe(sshKeys.ed25519.split(' ').slice(0, 2).join(' '))
  },
  'public-keys=line-break': async (world) => {
    expect(await publicKey(world)).toBe(`${sshKeys.ed25519}\n`)
  },
  'sets=reversed': async (world) => {
    const acl = ['bind:a=*', 'bind:b=*']
    expect((await world.api.create('credentials', { acl })).acl).toEqual(acl.toReversed())
  },
  'single-rules=object': async (world) => {
    const rule = { name: 'r', expressions: [], actions: [{ type: 'log' }] }
    const { policy } = await world.api.create('edges/tcp', { policy: { inbound: [rule], outbound: [rule, rule] } })
    expect(policy).toMatchObject({ inbound: { actions: { type: 'log' } }, outbound: [{ name: 'r' }, { name: 'r' }] })
  },
  'enabled=omitted': async (world) => {
    const edge = await world.api.create('edges/tls', { tls_termination: {}, policy: { enabled: false } })
    expect(edge.tls_termination).not.toHaveProperty('enabled')
    expect(edge.policy).toMatchObject({ enabled: false })
  },
  'disabled-modules=null': async (world) => {
    expect((await world.api.create('edges/tcp', { policy: { enabled: false } })).policy).toBeNull()
  },
  'acl-none=star': async (world) => {
    expect((await world.api.create('credentials', {})).acl).toEqual(['*'])
  },
  'secrets=masked': async (world) => {
    expect(await monitorOf(world)).toMatchObject({ api_key: '********', service: null })
  },
  'retry-after=date': async (world) => {
    expect(Date.parse(String(await retryAfter(world)))).toBeGreaterThan(Date.now() - 1000)
  },
  'retry-after=none': async (world) => {
    expect(await retryAfter(world)).toBeNull()
  },
  'min-version-default=1.1': (world) => minVersion(world, '1.1'),
  'min-version-default=tls1.2': (world) => minVersion(world, 'tls1.2'),
  'min-version-default=1.3': (world) => minVersion(world, '1.3'),
  'monitor-defaults=chosen': async (world) => {
    expect(await monitorOf(world)).toEqual({
      api_key: null,
      monitortags: 'source:edge',
      service: 'edge',
      monitorsite: 'us1',
    })
  },
  'rule-defaults=chosen': async (world) => {
    const named = { name: 'r', expressions: [], actions: [{ type: 'log', config: { a: 1 } }] }
    const inbound = [{ actions: [{ type: 'log' }] }, named]
    const { policy } = await world.api.create('edges/tcp', { policy: { inbound } })
    const open = { name: 'rule', expressions: [], actions: [{ type: 'log', config: { log: true } }] }
    expect(policy).toMatchObject({ inbound: [open, named] })
  },
  'content-type=added': async (world) => {
    const { id } = await world.api.create('backends/http_response', {})
    expect((await world.api.get('backends/http_response', id)).headers).toEqual({ 'content-type': 'text/plain' })
    const html = { 'content-type': 'text/html', 'x-a': '1' }
    expect((await world.api.update('backends/http_response', id, { headers: html })).headers).toEqual(html)
  },
  'rules-taken=object': async (world) => {
    const rule = { expressions: ['true'], actions: { type: 'log' } }
    const { id } = await world.api.create('edges/tcp', { policy: { inbound: rule } })
    const edge = (inbound: unknown) => world.api.call('PATCH', `/edges/tcp/${id}`, { body: { policy: { inbound } } })
    expect((await edge([rule])).status).toBe(400)
    expect((await edge([])).status).toBe(400)
    expect((await edge({ ...rule, actions: [{ type: 'log' }] })).status).toBe(400)
    expect((await edge(rule)).status).toBe(200)
    expect((await edge([rule, rule])).status).toBe(200)
  },
  'module-contents=mandatory': async (world) => {
    const off = { backend: { enabled: false }, ip_restriction: { enabled: false } }
    for (const body of [{ backend: off.backend }, { ip_restriction: off.ip_restriction }]) {
      expect((await world.api.call('POST', '/edges/tcp', { body })).status).toBe(400)
    }
    const { id } = await world.api.create('backends/tunnel_group', {})
    await world.api.create('edges/tcp', { backend: { enabled: false, backend_id: id }, policy: { enabled: false } })
  },
  'module-contents=refused': async (world) => {
    const { id } = await world.api.create('backends/tunnel_group', {})
    const edge = (backend: Body) => world.api.call('POST', '/edges/tcp', { body: { backend } })
    expect((await edge({ enabled: false, backend_id: id })).status).toBe(400)
    expect((await edge({ enabled: false })).status).toBe(201)
    expect((await edge({ backend_id: id })).status).toBe(201)
  },
  'deleted-policies=refused': async (world) => {
    const [kept, gone] = [await world.api.create('ip_policies', {}), await world.api.create('ip_policies', {})]
    const ip_policy_ids = [kept.id, gone.id]
    const { id } = await world.api.create('ip_restrictions', { type: 'agent', ip_policy_ids })
    const edge = await world.api.create('edges/tcp', { ip_restriction: { ip_policy_ids } })
    await world.api.remove(`/ip_policies/${gone.id}`)
    expect((await world.api.call('PATCH', `/ip_restrictions/${id}`, { body: { ip_policy_ids } })).status).toBe(400)
    const body = { ip_restriction: { ip_policy_ids } }
    expect((await world.api.call('PATCH', `/edges/tcp/${edge.id}`, { body })).status).toBe(400)
  },
  'empty-members=refused': async (world) => {
    for (const [path, body] of [
      ['/ip_restrictions', { type: 'agent', ip_policy_ids: [] }],
      ['/event_subscriptions', { sources: [] }],
      ['/event_subscriptions', { destination_ids: [] }],
      ['/backends/weighted', { backends: {} }],
      ['/backends/failover', { backends: [] }],
    ] as const) {
      expect((await world.api.call('POST', path, { body })).status, path).toBe(400)
    }
  },
  'event-types=snake-case': async (world) => {
    const subscribe = (type: string) =>
      world.api.call('POST', '/event_subscriptions', { body: { sources: [{ type }] } })
    expect((await subscribe('ip-policy.v0')).status).toBe(400)
    expect((await subscribe('ip_policy.v0')).status).toBe(201)
  },
  'acl-targets=names': async (world) => {
    const create = (rule: string) => world.api.call('POST', '/credentials', { body: { acl: [rule] } })
    for (const rule of ['bind:*.internal', 'bind:localhost', 'bind:[2001:db8::7]:1']) {
      expect((await create(rule)).status, rule).toBe(400)
    }
    expect((await create('bind:*.example.com')).status).toBe(201)
  },
  'curve-names=short': async (world) => {
    const create = (elliptic_curve: string) =>
      world.api.call('POST', '/ssh_certificate_authorities', { body: { private_key_type: 'ecdsa', elliptic_curve } })
    expect((await create('P-256')).status).toBe(400)
    expect((await create('p256')).status).toBe(201)
  },
  'version-names=tls': (world) => versionNames(world, 'tls1.2', '1.2'),
  'version-names=number': (world) => versionNames(world, '1.2', 'tls1.2'),
  'enforced-default=on': async (world) => {
    expect((await world.api.create('ip_restrictions', { type: 'agent' })).enforced).toBe(true)
    expect((await world.api.create('ip_restrictions', { type: 'agent', enforced: false })).enforced).toBe(false)
  },
  'without-allow=admitted': async (world) => {
    const policy = await world.api.create('ip_policies', {})
    await world.api.create('ip_restrictions', { type: 'api', enforced: true, ip_policy_ids: [policy.id] })
    await world.api.create('ip_policy_rules', { ip_policy_id: policy.id, cidr: '198.51.100.0/24', action: 'deny' })
    expect((await world.api.call('GET', '/ip_policies')).status).toBe(200)
    await world.api.create('ip_policy_rules', { ip_policy_id: policy.id, cidr: '203.0.113.0/24', action: 'allow' })
    expect((await world.api.call('GET', '/ip_policies')).status).toBe(403)
  },
  'several-policies=any': async (world) => {
    expect(await statusUnder(world, { '127.0.0.0/8': 'allow' }, { '127.0.0.0/8': 'deny' })).toBe(200)
  },
  'several-policies=each': async (world) => {
    expect(await statusUnder(world, { '127.0.0.0/8': 'allow' }, { '203.0.113.0/24': 'allow' })).toBe(403)
  },
  'bot-active-default=off': async (world) => {
    expect((await world.api.create('bot_users', { name: 'a' })).active).toBe(false)
    expect((await world.api.create('bot_users', { name: 'b', active: true })).active).toBe(true)
  },
  'certificate-after-policy=goes': async (world) => {
    const domain = await managedDomain(world)
    expect(domain.certificate).not.toBeNull()
    const cleared = await world.api.update('reserved_domains', domain.id, { certificate_management_policy: null })
    expect(cleared.certificate).toBeNull()
  },
  'certificate-exclusivity=object': async (world) => {
    const certificate_id = await world.admin.seedTlsCertificate('uploaded')
    const body = { domain: world.serviceDomain(), certificate_id }
    const { id } = await world.api.create('reserved_domains', body)
    const policy = { certificate_management_policy: {} }
    expect((await world.api.call('PATCH', `/reserved_domains/${id}`, { body: policy })).status).toBe(400)
    await world.api.update('reserved_domains', id, { ...policy, certificate_id: null })
    expect((await world.api.call('PATCH', `/reserved_domains/${id}`, { body: { certificate_id } })).status).toBe(400)
    await world.api.update('reserved_domains', id, { certificate_id, certificate_management_policy: null })
  },
  'unique-names=bots': async (world) => {
    await world.api.create('bot_users', { name: 'one' })
    expect((await world.api.call('POST', '/bot_users', { body: { name: 'one' } })).status).toBe(409)
  },
  'texts=trimmed': async (world) => {
    const policy = await world.api.create('ip_policies', { description: ' a b ', metadata: '\n{"a": 1} ' })
    expect(policy).toMatchObject({ description: 'a b', metadata: '{"a": 1}' })
    expect((await world.api.create('bot_users', { name: ' a b ' })).name).toBe('a b')
  },
  'long-descriptions=cut': async (world) => {
    const backend = await world.api.create('backends/tunnel_group', { description: 'é'.repeat(200) })
    expect(backend.description).toBe('é'.repeat(127))
  },
  'ids=hex': (world) => idsLike(world, /^ipp_[0-9a-f]{8}(-[0-9a-f]{4}){2}-[0-9a-f]{24}$/),
  'ids=number': (world) => idsLike(world, /^\d{59}$/),
  'ids=random': async (world) => {
    const made = await policies(world, 20)
    for (const id of made) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    expect(made).not.toEqual(made.toSorted())
    expect(await pagedIds(world, '?limit=3')).toEqual(made.toSorted().toReversed())
    await refersTo(world, made[0] ?? '')
  },
}

/** What becomes of connections is compared with another reading (`gateway/judge.test.ts`). */
const SEEN = ALTERNATIVES.filter(({ name }) => CHOICES[name].about !== 'traffic')

test('there is a case for each alternative that clients of the API see', () => {
  expect(Object.keys(CHECKS)).toEqual(SEEN.map(({ name, value }) => `${name}=${value}`))
})

test.each(SEEN)('$name=$value does what it says', async (alternative) => {
  const choices = withAlternative(DECIDED, alternative)
  const isLimited = alternative.name === 'retry-after'
  const world = await startWorld({ choices, certSeconds: 0, ...(isLimited ? { requestsPerMinute: 1 } : {}) })
  try {
    await CHECKS[`${alternative.name}=${alternative.value}`]?.(world)
  } finally {
    await world.close()
  }
})

async function namesNothing(world: World, status: number): Promise<void> {
  const body = { ip_policy_id: 'ipp_none', cidr: '10.0.0.0/8', action: 'deny' }
  const answer = await world.api.call('POST', '/ip_policy_rules', { body })
  expect(answer.status).toBe(status)
}

async function refused(world: World, text: RegExp): Promise<void> {
  const answer = await world.api.call('POST', '/ip_policies', { body: { nonsense: 1 } })
  expect(answer.status).toBe(400)
  expect(answer.text).toMatch(text)
}

/** Status of the refusal of a name that is taken. */
async function taken(world: World): Promise<number> {
  const body = { domain: world.serviceDomain() }
  await world.api.create('reserved_domains', body)
  return (await world.api.call('POST', '/reserved_domains', { body })).status
}

/** Answers of updates not shown in the contract have this form; others are the object. */
async function updatesAnswered(world: World, status: number, text: string): Promise<void> {
  const edge = await world.api.create('edges/tls', {})
  const answer = await world.api.call('PATCH', `/edges/tls/${edge.id}`, { body: { description: 'new' } })
  expect([answer.status, answer.text]).toEqual([status, text])
  expect(await world.api.get('edges/tls', edge.id)).toMatchObject({ description: 'new' })
  const policy = await world.api.create('ip_policies', {})
  expect(await world.api.update('ip_policies', policy.id, { description: 'new' })).toMatchObject({ description: 'new' })
}

async function policies(world: World, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (let made = 0; made < count; made += 1) ids.push((await world.api.create('ip_policies', {})).id)
  return ids
}

async function pagedIds(world: World, query: string): Promise<readonly string[]> {
  return (await world.api.all(`/ip_policies${query}`, 'ip_policies')).map(({ id }) => id)
}

async function pagesOf(world: World, size: number): Promise<void> {
  const made = await policies(world, 4)
  const first = await world.api.object(200, 'GET', '/ip_policies?limit=100')
  expect(first.ip_policies).toHaveLength(size)
  expect(await pagedIds(world, '')).toEqual(made.toReversed())
}

async function nextPage(world: World, form: RegExp): Promise<void> {
  const [older] = await policies(world, 2)
  const first = await world.api.object(200, 'GET', '/ip_policies?limit=1')
  expect(first.next_page_uri).toMatch(form)
  const next = new URL(String(first.next_page_uri), `${world.url}/ip_policies`)
  expect(await world.api.object(200, 'GET', next.href)).toMatchObject({ ip_policies: [{ id: older }] })
}

async function emptyPolicy(world: World, texts: Body): Promise<void> {
  const { id: _id, uri: _uri, created_at: _at, ...rest } = await world.api.create('ip_policies', {})
  expect(rest).toEqual(texts)
}

async function createdAt(world: World, form: RegExp): Promise<void> {
  const { created_at } = await world.api.create('ip_policies', {})
  expect(created_at).toMatch(form)
  const read = String(created_at).toUpperCase().replace(/\.\d+/, '')
  expect(Math.abs(Date.parse(read) - Date.now())).toBeLessThan(60_000)
}

async function cidrs(world: World): Promise<readonly unknown[]> {
  const policy = await world.api.create('ip_policies', {})
  const shown: unknown[] = []
  for (const cidr of ['192.0.2.7/32', '10.0.0.0/8', '2001:db8::1/128', '2001:db8::/32']) {
    const rule = await world.api.create('ip_policy_rules', { ip_policy_id: policy.id, cidr, action: 'allow' })
    shown.push(rule.cidr)
  }
  return shown
}

/** How a caller is answered under a restriction with these policies, whose rules are actions by range. */
async function statusUnder(world: World, ...rules: readonly Readonly<Record<string, string>>[]): Promise<number> {
  const ids: string[] = []
  for (const policy of rules) {
    const { id } = await world.api.create('ip_policies', {})
    for (const [cidr, action] of Object.entries(policy)) {
      await world.api.create('ip_policy_rules', { ip_policy_id: id, cidr, action })
    }
    ids.push(id)
  }
  await world.api.create('ip_restrictions', { type: 'api', enforced: true, ip_policy_ids: ids })
  return (await world.api.call('GET', '/ip_policies')).status
}

async function publicKey(world: World): Promise<unknown> {
  return (await world.api.create('ssh_credentials', { public_key: sshKeys.ed25519 })).public_key
}

async function monitorOf(world: World): Promise<unknown> {
  const body = { format: 'json', target: { monitor: { api_key: 'secret' } } }
  return ((await world.api.create('event_destinations', body)).target as Body).monitor
}

async function versionNames(world: World, taken: string, refused: string): Promise<void> {
  const edge = (min_version: string) =>
    world.api.call('POST', '/edges/tls', { body: { tls_termination: { min_version } } })
  expect((await edge(refused)).status).toBe(400)
  expect((await edge(taken)).status).toBe(201)
}

async function minVersion(world: World, version: string): Promise<void> {
  const at = async (tls_termination: Body): Promise<unknown> =>
    ((await world.api.create('edges/tls', { tls_termination })).tls_termination as Body).min_version
  expect(await at({})).toBe(version)
  expect(await at({ min_version: '1.2' })).toBe('1.2')
  expect(await at({ terminate_at: 'upstream' })).toBeNull()
}

async function retryAfter(world: World): Promise<string | null> {
  await world.api.call('GET', '/ip_policies')
  const answer = await world.api.call('GET', '/ip_policies')
  expect(answer.status).toBe(429)
  return answer.headers.get('retry-after')
}

async function managedDomain(world: World): Promise<Resource> {
  const body = { domain: world.serviceDomain(), certificate_management_policy: {} }
  const { id } = await world.api.create('reserved_domains', body)
  return await world.api.get('reserved_domains', id)
}

async function idsLike(world: World, form: RegExp): Promise<void> {
  const [first = '', second = ''] = await policies(world, 2)
  for (const id of [first, second]) {
    expect(id).toMatch(form)
    expect(await world.api.get('ip_policies', id)).toMatchObject({ id, uri: `${world.url}/ip_policies/${id}` })
  }
  expect(await pagedIds(world, '?limit=1')).toEqual([second, first])
  await refersTo(world, first)
}

/** A reference shows the id and address of its target. */
async function refersTo(world: World, id: string): Promise<void> {
  const rule = { ip_policy_id: id, cidr: '10.0.0.0/8', action: 'deny' }
  const { ip_policy: shown } = await world.api.create('ip_policy_rules', rule)
  expect(shown).toEqual({ id, uri: `${world.url}/ip_policies/${id}` })
}
