import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CheckFlags, runCheck } from '../../../src/cli/check-command.ts'
import { readEnvironment } from '../../../src/config.ts'
import { DECIDED } from '../../../src/judging/world.ts'
import { capturedTerminals } from '../../builders/captured-text.ts'
import { ApiClient } from '../../builders/contract/api-client.ts'
import { newClientAuthority } from '../../builders/contract/client-certificates.ts'
import { startWorld, type World } from '../../builders/contract/world.ts'

const DOCS = new URL('../../../docs/cli/', import.meta.url)
const PAGE = readFileSync(new URL('check.md', DOCS), 'utf8')
const SCHEMA = JSON.parse(readFileSync(new URL('check.schema.json', DOCS), 'utf8'))

let world: World
let folder: string
/** A TLS edge of the account, with its policy, its rule and where it is reached. */
let shop: { readonly id: string; readonly policy: string; readonly rule: string; readonly hostport: string }

beforeAll(async () => {
  world = await startWorld()
  folder = await mkdtemp(join(tmpdir(), 'culvert-check-'))
  const { api } = world
  const domain = world.serviceDomain()
  await api.create('reserved_domains', { domain })
  const { id: policy } = await api.create('ip_policies', {})
  const rule = await api.create('ip_policy_rules', { ip_policy_id: policy, cidr: '203.0.113.0/24', action: 'allow' })
  const backend = await api.create('backends/http_response', { body: 'hello' })
  const edge = await api.create('edges/tls', {
    hostports: [`${domain}:443`],
    backend: { backend_id: backend.id },
    ip_restriction: { ip_policy_ids: [policy] },
  })
  shop = { id: edge.id, policy, rule: rule.id, hostport: `${domain}:443` }
})
afterAll(async () => {
  await world.close()
  await rm(folder, { recursive: true })
})

interface Ran {
  readonly code: number
  readonly output: string
  readonly errors: string
}

/** Runs the command with the account in the environment, or without any. */
async function run(edge: string | undefined, given: Partial<CheckFlags> = {}, isLive = true): Promise<Ran> {
  const flags: CheckFlags = {
    filename: [],
    manifestsAlone: false,
    output: 'text',
    release: 'culvert',
    choose: DECIDED,
    namespace: 'shop',
    ...given,
  }
  const environment = readEnvironment(isLive ? { CULVERT_BASE_URL: world.url, CULVERT_API_KEY: world.apiKey } : {})
  const terminals = capturedTerminals()
  const code = await runCheck(edge, flags, { environment, ...terminals })
  return { code, ...terminals.printed() }
}

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

const manifest = (kind: string, name: string, spec: object): object => {
  return { apiVersion: 'culvert.dev/v1alpha1', kind, metadata: { name, namespace: 'shop' }, spec }
}

/** The manifests that the expectations of the page are about. */
function manifests(extra: readonly object[] = []): Promise<string> {
  const rules = ['203.0.113.0/24', '2001:db8::/32'].map((cidr) => ({ cidr, action: 'Allow' }))
  const domain = 'check.tunnel.example'
  const all = [
    manifest('ReservedDomain', 'shop', { domain }),
    manifest('IPPolicy', 'office', { rules }),
    manifest('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }),
    manifest('Edge', 'shop', {
      protocol: 'TLS',
      hostports: [{ type: 'ReservedDomain', reservedDomainRef: { name: 'shop' }, port: 443 }],
      backend: { name: 'web' },
      ipRestriction: { ipPolicyRefs: [{ name: 'office' }] },
    }),
    ...extra,
  ]
  return file('all.yaml', all.map((each) => JSON.stringify(each)).join('\n---\n'))
}

describe('a live account', () => {
  test('admits by a rule, which is named by its id', async () => {
    const { code, output } = await run(shop.hostport, { from: '203.0.113.7' })
    expect([code, output]).toEqual([0, expect.stringContaining('ADMITTED 203.0.113.7')])
    expect(output).toMatch(
      new RegExp(`ip-policies +passes +the rule allow 203.0.113.0/24 of ${shop.policy} matches it`),
    )
  })

  test('refuses what no rule admits', async () => {
    const { code, output } = await run(shop.hostport, { from: '198.51.100.9' })
    expect([code, output]).toEqual([
      2,
      expect.stringMatching(/ip-policies +refuses +no rule of \S+ matches 198.51.100.9/),
    ])
    expect(output).toMatch(/backend +not-reached/)
  })

  test('has no edge for a name that none has, also if only the handshake names it', async () => {
    expect((await run('nobody.example.com:443', { from: '203.0.113.7' })).code).toBe(2)
    expect((await run(shop.hostport, { from: '203.0.113.7', sni: 'nobody.example.com' })).code).toBe(2)
  })

  test('counts a restriction that no resource has', async () => {
    const restriction = await world.api.create('ip_restrictions', {
      type: 'endpoints',
      enforced: true,
      ip_policy_ids: [(await world.api.create('ip_policies', {})).id],
    })
    const { code, output } = await run(shop.hostport, { from: '203.0.113.7', output: 'json' })
    await world.api.remove(`/ip_restrictions/${restriction.id}`)
    expect(code).toBe(2)
    expect(JSON.parse(output).steps[1]).toMatchObject({
      kind: 'restrictions',
      outcome: 'refuses',
      rule: restriction.id,
    })
  })

  test('prints JSON that its schema describes, with the rule and where it was read', async () => {
    const check = new Ajv2020().compile(SCHEMA)
    const { output } = await run(shop.hostport, { from: '203.0.113.7', tls: '1.2', output: 'json' })
    const printed = JSON.parse(output)
    expect(check(printed), JSON.stringify(check.errors)).toBe(true)
    expect(printed).toMatchObject({ verdict: 'admitted', tls: '1.2', otherReadings: ['termination-default=upstream'] })
    const source = { name: shop.policy, at: expect.stringMatching(/^\d{4}-/) }
    expect(printed.steps[2]).toMatchObject({ kind: 'ip-policies', rule: shop.rule, source })
  })

  test('is only read', async () => {
    const surface = new ApiClient(`${world.url}/_emulator`, world.adminToken)
    expect((await surface.call('DELETE', '/journal')).status).toBe(204)
    await run(shop.hostport, { from: '203.0.113.7' })
    const { entries } = await surface.object(200, 'GET', '/journal')
    expect(new Set((entries as readonly { readonly method: string }[]).map(({ method }) => method))).toEqual(
      new Set(['GET']),
    )
  })

  test('judges a client certificate by its authorities', async () => {
    const { caPem, client } = await newClientAuthority('clients')
    const { id } = await world.api.create('certificate_authorities', { ca_pem: caPem })
    await world.api.update('edges/tls', shop.id, { mutual_tls: { certificate_authority_ids: [id] } })
    const cert = await file('client.pem', client.cert)
    const codes = [
      await run(shop.hostport, { from: '203.0.113.7' }),
      await run(shop.hostport, { from: '203.0.113.7', cert }),
    ]
    await world.api.update('edges/tls', shop.id, { mutual_tls: { enabled: false } })
    expect(codes.map(({ code }) => code)).toEqual([2, 0])
  })
})

describe('manifests', () => {
  test('alone meet the expectations of the documentation', async () => {
    const [, text = ''] = /```yaml\n(- to: [^`]+)```/.exec(PAGE) ?? []
    const flags = { filename: [await manifests()], expect: await file('expect.yaml', text), manifestsAlone: true }
    const { code, output, errors } = await run(undefined, flags, false)
    expect([code, output.trim(), errors]).toEqual([0, '3 as expected, 0 not as expected, 0 unknown', ''])
  })

  test('leave unknown what only the account has', async () => {
    const flags = { filename: [await manifests()], from: '203.0.113.7' }
    const { code, output } = await run('edge/shop', flags, false)
    expect([code, output]).toEqual([3, expect.stringMatching(/restrictions +unknown +the account was not read/)])
    const refused = await run('edge/shop', { ...flags, from: '198.51.100.9' }, false)
    expect([refused.code, refused.output]).toEqual([
      2,
      expect.stringMatching(/no rule of IPPolicy\/office \(.*all\.yaml:3\)/),
    ])
  })

  test('are judged with what the account has', async () => {
    const flags = { filename: [await manifests()], from: '203.0.113.7' }
    const { code, output } = await run('edge/shop', flags)
    expect([code, output]).toEqual([3, expect.stringMatching(/backend +unknown +the service decides it/)])
    expect(output).toMatch(/restrictions +passes/)
  })

  test('that would not be carried out are unknown, with the reason', async () => {
    const lost = manifest('Edge', 'lost', { protocol: 'TCP', backend: { name: 'nowhere' } })
    const flags = { filename: [await manifests([lost])], from: '203.0.113.7', manifestsAlone: true }
    const { code, output } = await run('edge/lost', flags, false)
    expect([code, output]).toEqual([3, expect.stringMatching(/edge +unknown +Edge\/lost: .*nowhere/)])
  })
})

describe('expectations', () => {
  const check = async (text: string): Promise<Ran> => {
    const flags = { filename: [await manifests()], expect: await file('expect.yaml', text), manifestsAlone: true }
    return run(undefined, flags, false)
  }

  test('that are not met end with 2, and say what happens instead', async () => {
    const { code, output } = await check('- {to: edge/shop, from: 198.51.100.9, expect: admitted}')
    expect(code).toBe(2)
    expect(output).toContain('expect.yaml:1 198.51.100.9 to edge/shop: expected admitted, refused by ip-policies')
  })

  test('name the step that has to refuse', async () => {
    const by = (step: string) => check(`- {to: edge/shop, from: 198.51.100.9, expect: refused, by: ${step}}`)
    expect([(await by('ip-policies')).code, (await by('backend')).code]).toEqual([0, 2])
  })

  test.each([
    ['to: edge/shop', 'must be a list'],
    ['- {to: edge/shop, from: 10.0.0.1}', 'must set expect'],
    ['- {to: edge/shop, from: 10.0.0.1, expect: refused, port: 1}', 'unknown field "port"'],
    ['- {to: edge/shop, from: 10.0.0.1, expect: admitted, by: backend}', 'may set by only'],
    ['- {to: edge/shop, from: 10.0.0.1, expect: refused, tls: 1.2}', 'quote a version'],
    ['- {to: edge/shop, from: office, expect: refused}', 'is not an IP address'],
    ['- [', 'is not YAML'],
  ])('%s: %s', async (text, problem) => {
    const { code, errors } = await check(text)
    expect([code, errors]).toEqual([1, expect.stringContaining(problem)])
  })
})

test.each<[string | undefined, Partial<CheckFlags>, string]>([
  [undefined, {}, 'name an edge and an address'],
  ['edge/shop', {}, 'name an edge and an address'],
  ['backend/web', { from: '10.0.0.1' }, 'only an Edge takes connections'],
  ['shop.example.com:443', { from: '10.0.0.1', cert: '/nowhere.pem' }, 'cannot be read (ENOENT)'],
  ['shop.example.com:443', { from: '10.0.0.1', apiKeyFile: '/nowhere' }, '--api-key-file'],
])('%s with %j is refused', async (edge, flags, problem) => {
  const { code, errors } = await run(edge, flags)
  expect([code, errors]).toEqual([1, expect.stringContaining(problem)])
})
