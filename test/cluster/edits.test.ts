import { expect, test } from 'vitest'
import type { JournalEntry } from '../../src/emulator/admin/journal.ts'
import { SEED } from '../builders/specs.ts'
import { type Resource, World } from './support/world.ts'

type Fields = Record<string, unknown>

/** One edit of a spec, what it should come to at the API, and the one request that it should take. */
interface Edit {
  readonly what: string
  readonly spec: Fields
  readonly object: Fields
  /** The one field of the PATCH. */
  readonly sent: string
}

/** Fields of a PATCH, `id` aside: every update body carries it. */
function fieldsOf({ body }: JournalEntry): readonly string[] {
  return Object.keys(body as Fields).filter((name) => name !== 'id')
}

/** A way to write down edits, each on top of the last. */
function edits(
  base: Fields,
  steps: readonly (readonly [what: string, change: Fields, object: Fields, sent: string])[],
): readonly Edit[] {
  let spec = base
  return steps.map(([what, change, object, sent]) => {
    spec = Object.fromEntries(Object.entries({ ...spec, ...change }).filter(([, value]) => value !== undefined))
    return { what, spec, object, sent }
  })
}

/** Carries the edits out, one after the other; each must be one PATCH of what was edited and nothing else. */
async function carryOut(
  world: World,
  kind: string,
  name: string,
  path: string,
  list: readonly Edit[],
): Promise<Resource> {
  let cr = await world.ready(kind, name)
  const { id } = cr.status ?? {}
  for (const { what, spec, object, sent } of list) {
    const mark = world.mark()
    await world.apply(kind, name, spec)
    cr = await world.ready(kind, name)
    const writes = world.writes(mark).map((entry) => `${entry.method} ${entry.path} ${fieldsOf(entry)}`)
    expect(writes, what).toEqual([`PATCH /${path}/${id} ${sent}`])
    expect(await world.remote(path), what).toContainEqual(expect.objectContaining({ id, ...object }))
  }
  return cr
}

const common = (suffix: string): Parameters<typeof edits>[1] => [
  ['description', { description: `edited ${suffix}` }, { description: `edited ${suffix}` }, 'description'],
  ['description taken out', { description: undefined }, { description: '' }, 'description'],
  ['metadata', { metadata: `mine ${suffix}` }, { metadata: `mine ${suffix}` }, 'metadata'],
  ['metadata taken out', { metadata: undefined }, { metadata: expect.stringMatching(/^\{"culvert":/) }, 'metadata'],
]

const ref = (id: unknown) => expect.objectContaining({ id })

test('every edit of a Backend is carried out by one PATCH of what was edited', async () => {
  await using world = await World.open()
  const types = {
    group: { type: 'TunnelGroup', tunnelGroup: {} },
    other: { type: 'TunnelGroup', tunnelGroup: {} },
    answer: { type: 'HTTPResponse', httpResponse: { body: 'closed', headers: { a: '1' }, statusCode: 503 } },
    shares: { type: 'Weighted', weighted: { backends: [{ backendRef: { name: 'group' }, weight: 1 }] } },
    order: { type: 'Failover', failover: { backendRefs: [{ name: 'group' }] } },
  }
  for (const [name, spec] of Object.entries(types)) await world.apply('Backend', name, spec)
  for (const name of Object.keys(types)) await world.ready('Backend', name)
  const { status: group } = await world.ready('Backend', 'group')
  const { status: other } = await world.ready('Backend', 'other')
  const share = (name: string, weight: number) => ({ backendRef: { name }, weight })

  await carryOut(
    world,
    'Backend',
    'group',
    'backends/tunnel_group',
    edits(types.group, [
      ...common('group'),
      ['labels', { tunnelGroup: { labels: { app: 'shop' } } }, { labels: { app: 'shop' } }, 'labels'],
      ['other labels', { tunnelGroup: { labels: { tier: 'a' } } }, { labels: { tier: 'a' } }, 'labels'],
    ]),
  )
  await carryOut(
    world,
    'Backend',
    'answer',
    'backends/http_response',
    edits(types.answer, [
      ...common('answer'),
      ['body', { httpResponse: { body: 'open', headers: { a: '1' }, statusCode: 503 } }, { body: 'open' }, 'body'],
      [
        'headers',
        { httpResponse: { body: 'open', headers: { b: '2' }, statusCode: 503 } },
        { headers: { b: '2' } },
        'headers',
      ],
      [
        'code',
        { httpResponse: { body: 'open', headers: { b: '2' }, statusCode: 200 } },
        { status_code: 200 },
        'status_code',
      ],
    ]),
  )
  await carryOut(
    world,
    'Backend',
    'shares',
    'backends/weighted',
    edits(types.shares, [
      ...common('shares'),
      ['weight', { weighted: { backends: [share('group', 7)] } }, { backends: { [`${group?.id}`]: 7 } }, 'backends'],
      [
        'another member',
        { weighted: { backends: [share('group', 7), share('other', 0)] } },
        { backends: { [`${group?.id}`]: 7, [`${other?.id}`]: 0 } },
        'backends',
      ],
      [
        'a member less',
        { weighted: { backends: [share('other', 1)] } },
        { backends: { [`${other?.id}`]: 1 } },
        'backends',
      ],
    ]),
  )
  await carryOut(
    world,
    'Backend',
    'order',
    'backends/failover',
    edits(types.order, [
      ...common('order'),
      ['another member', { failover: { backendRefs: [{ name: 'group' }, { name: 'other' }] } }, {}, 'backends'],
      ['order', { failover: { backendRefs: [{ name: 'other' }, { name: 'group' }] } }, {}, 'backends'],
    ]),
  )
  const [failover] = await world.remote('backends/failover')
  expect(JSON.stringify(failover?.backends)).toMatch(new RegExp(`${other?.id}.*${group?.id}`))
})

test('every edit of an Edge is carried out by one PATCH of what was edited, and a module taken out is disabled', async () => {
  await using world = await World.open()
  world.emulator.admin.seed(SEED)
  await world.apply('ReservedDomain', 'shop', { domain: 'shop.tunnel.example' })
  await world.apply('ReservedAddress', 'address', {})
  for (const name of ['blue', 'green']) await world.apply('Backend', name, { type: 'TunnelGroup', tunnelGroup: {} })
  for (const name of ['office', 'home'])
    await world.apply('IPPolicy', name, { rules: [{ cidr: '10.0.0.0/8', action: 'allow' }] })
  const id = async (kind: string, name: string) => (await world.ready(kind, name, 60_000)).status?.id
  const [blue, green] = [await id('Backend', 'blue'), await id('Backend', 'green')]
  const [office, home] = [await id('IPPolicy', 'office'), await id('IPPolicy', 'home')]
  await id('ReservedDomain', 'shop')
  const { status: address } = await world.ready('ReservedAddress', 'address')
  const authorities = (...ids: readonly string[]) => ids.map((authority) => ({ id: authority }))

  const base = { protocol: 'TLS', hostports: [{ reservedDomainRef: { name: 'shop' }, port: 443 }] }
  await world.apply('Edge', 'shop', base)
  const edge = await carryOut(
    world,
    'Edge',
    'shop',
    'edges/tls',
    edits(base, [
      ...common('edge'),
      [
        'hostports',
        {
          hostports: [{ reservedDomainRef: { name: 'shop' }, port: 8443 }, { reservedAddressRef: { name: 'address' } }],
        },
        { hostports: expect.arrayContaining(['shop.tunnel.example:8443', address?.addr]) },
        'hostports',
      ],
      ['hostports taken out', { hostports: undefined }, { hostports: [] }, 'hostports'],

      [
        'backend',
        { backend: { backendRef: { name: 'blue' } } },
        { backend: expect.objectContaining({ enabled: true, backend: ref(blue) }) },
        'backend',
      ],
      [
        'another backend',
        { backend: { backendRef: { name: 'green' } } },
        { backend: expect.objectContaining({ enabled: true, backend: ref(green) }) },
        'backend',
      ],
      [
        'backend disabled',
        { backend: { enabled: false, backendRef: { name: 'green' } } },
        { backend: expect.objectContaining({ enabled: false }) },
        'backend',
      ],
      [
        'backend enabled',
        { backend: { enabled: true, backendRef: { name: 'green' } } },
        { backend: expect.objectContaining({ enabled: true, backend: ref(green) }) },
        'backend',
      ],
      [
        'backend taken out',
        { backend: undefined },
        { backend: expect.objectContaining({ enabled: false }) },
        'backend',
      ],

      [
        'restriction',
        { ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } },
        { ip_restriction: { enabled: true, ip_policies: [ref(office)] } },
        'ip_restriction',
      ],
      [
        'another policy',
        { ipRestriction: { ipPolicyRefs: [{ name: 'office' }, { name: 'home' }] } },
        { ip_restriction: { enabled: true, ip_policies: expect.arrayContaining([ref(office), ref(home)]) } },
        'ip_restriction',
      ],
      [
        'restriction taken out',
        { ipRestriction: undefined },
        { ip_restriction: expect.objectContaining({ enabled: false }) },
        'ip_restriction',
      ],

      [
        'termination',
        { tlsTermination: { minVersion: '1.2' } },
        { tls_termination: expect.objectContaining({ enabled: true, min_version: '1.2' }) },
        'tls_termination',
      ],
      [
        'lowest version',
        { tlsTermination: { minVersion: '1.3' } },
        { tls_termination: expect.objectContaining({ enabled: true, min_version: '1.3' }) },
        'tls_termination',
      ],
      [
        'termination upstream',
        { tlsTermination: { terminateAt: 'Upstream' } },
        { tls_termination: expect.objectContaining({ enabled: true, terminate_at: 'upstream' }) },
        'tls_termination',
      ],
      [
        'termination taken out',
        { tlsTermination: undefined },
        { tls_termination: expect.objectContaining({ enabled: false }) },
        'tls_termination',
      ],

      [
        'authorities',
        { mutualTLS: { certificateAuthorityRefs: authorities('ca_specs1') } },
        { mutual_tls: { enabled: true, certificate_authorities: [ref('ca_specs1')] } },
        'mutual_tls',
      ],
      [
        'other authorities',
        { mutualTLS: { certificateAuthorityRefs: authorities('ca_specs2') } },
        { mutual_tls: { enabled: true, certificate_authorities: [ref('ca_specs2')] } },
        'mutual_tls',
      ],
      [
        'authorities taken out',
        { mutualTLS: undefined },
        { mutual_tls: expect.objectContaining({ enabled: false }) },
        'mutual_tls',
      ],

      [
        'inbound',
        { policy: { inbound: [{ name: 'a', actions: [{ type: 'deny' }] }] } },
        { policy: expect.objectContaining({ enabled: true, inbound: [expect.objectContaining({ name: 'a' })] }) },
        'policy',
      ],
      [
        'outbound',
        { policy: { outbound: [{ name: 'b', actions: [{ type: 'log' }] }] } },
        { policy: expect.objectContaining({ enabled: true, outbound: [expect.objectContaining({ name: 'b' })] }) },
        'policy',
      ],
      ['policy taken out', { policy: undefined }, { policy: expect.objectContaining({ enabled: false }) }, 'policy'],
    ]),
  )
  expect(edge.status).toMatchObject({ access: 'Public', appliedModules: [] })
  expect(edge.status?.foreignModules).toBeUndefined()
})

test('a module that somebody else put on an edge is reported and left, until the spec names it', async () => {
  await using world = await World.open()
  const base = { protocol: 'TCP' }
  await world.apply('Edge', 'shop', base)
  const { status } = await world.ready('Edge', 'shop')
  const policy = { enabled: true, inbound: [{ name: 'theirs', actions: [{ type: 'deny' }] }], outbound: [] }
  await world.api.patch(`/edges/tcp/${status?.id}`, { id: status?.id, policy })
  const mark = world.mark()
  const reported = (cr: Resource): boolean => String(cr.status?.foreignModules) === 'policy'
  await world.pass()
  await world.until('Edge', 'shop', 'reports the module', reported)
  // Nor is it taken for ours after an edit, or after the status was lost.
  await world.apply('Edge', 'shop', { ...base, description: 'edited' })
  expect(reported(await world.ready('Edge', 'shop'))).toBe(true)
  expect(world.writes(mark).map(fieldsOf)).toEqual([['description']])
  await world.loseStatus([{ kind: 'Edge', name: 'shop' }])
  await world.ready('Edge', 'shop')
  await world.annotate('Edge', 'shop', { 'culvert.dev/reconcile-requested-at': 'again' })
  await world.until('Edge', 'shop', 'was looked at', (cr) => cr.status?.lastHandledReconcileAt === 'again')
  expect(reported(await world.ready('Edge', 'shop'))).toBe(true)
  expect(await world.remote('edges/tcp')).toMatchObject([{ policy: { enabled: true, inbound: [{ name: 'theirs' }] } }])
  expect(world.writes(mark)).toHaveLength(1)

  // Named in the spec it is ours, although it needed no write; taken out again, it is disabled.
  const named = { inbound: [{ name: 'theirs', actions: [{ type: 'deny' }] }] }
  await world.apply('Edge', 'shop', { ...base, description: 'edited', policy: named })
  expect((await world.ready('Edge', 'shop')).status).toMatchObject({ appliedModules: ['policy'] })
  expect(world.writes(mark)).toHaveLength(1)
  await world.apply('Edge', 'shop', { ...base, description: 'edited' })
  const after = await world.ready('Edge', 'shop')
  expect(after.status?.foreignModules).toBeUndefined()
  expect(await world.remote('edges/tcp')).toMatchObject([{ policy: { enabled: false } }])
})
