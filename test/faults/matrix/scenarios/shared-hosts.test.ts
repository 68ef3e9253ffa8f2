import { describe, expect, test } from 'vitest'
import { countOf, until } from '../../simulation/scenario.ts'
import { showing } from '../../simulation/shaped-answers.ts'
import { Tenants } from './tenants.ts'

const FRONT = 'blog/Edge/front'
const DOMAIN = 'shop/ReservedDomain/web'
const ADDRESS = 'shop/ReservedAddress/ssh'
const toBlog = { allowedReferences: [{ namespaces: ['blog'] }] }

function listening(host: string, port = 443) {
  return { protocol: 'TCP', hostports: [{ type: 'Host', host, port }] }
}

/** Writes of edges at the API. */
function edgeWrites({ writes }: Tenants, from = 0): readonly string[] {
  return writes.slice(from).filter((write) => /^api (POST|PATCH) \/edges\/t/.test(write))
}

/** The API may spell names in its own way. */
function respell({ world }: Tenants): void {
  world.trouble = showing('reserved_domains', (object) => ({ ...object, domain: String(object.domain).toUpperCase() }))
}

describe.each(['Deny', 'Adopt'] as const)('a literal host in a shared account, unmanaged objects: %s', (level) => {
  test.each([
    ['the domain of another namespace', 'web.example.com', 'web.example.com'],
    ['a name below the wildcard of another namespace', '*.example.com', 'web.example.com'],
  ])('does not take %s', async (_what, domain, host) => {
    const shared = await Tenants.begin({ unmanagedObjects: level })
    shared.apply(DOMAIN, { domain })
    await shared.ready(DOMAIN)
    respell(shared)
    await shared.world.advance(120_000)
    shared.apply(FRONT, listening(host))
    const said = await shared.says(FRONT, 'Synced', 'ReferenceNotPermitted')
    expect(said).toContain(`spec.hostports[0].host: ${host} is not reserved by a resource that permits references`)
    expect(said).not.toMatch(/shop|rd_|reserved_domains/)
    expect(shared.condition(FRONT, 'Stalled')?.status).toBe('True')
    expect(edgeWrites(shared)).toEqual([])
  })

  test('does not take the address of another namespace', async () => {
    const shared = await Tenants.begin({ unmanagedObjects: level })
    const addr = '1.TCP.tunnel.example:20000'
    shared.world.trouble = showing('reserved_addrs', (object) => ({ ...object, addr }))
    shared.apply(ADDRESS, {})
    await shared.ready(ADDRESS)
    shared.apply(FRONT, listening('1.tcp.tunnel.example', 20_000))
    await shared.says(FRONT, 'Synced', 'ReferenceNotPermitted')
    expect(edgeWrites(shared)).toEqual([])
  })

  test('does not reach an own wildcard past the exact domain of another namespace', async () => {
    const shared = await Tenants.begin({ unmanagedObjects: level })
    shared.apply(DOMAIN, { domain: 'web.example.com' })
    shared.apply('blog/ReservedDomain/all', { domain: '*.example.com' })
    await shared.ready(DOMAIN)
    await shared.ready('blog/ReservedDomain/all')
    shared.apply(FRONT, listening('web.example.com'))
    await shared.says(FRONT, 'Synced', 'ReferenceNotPermitted')
    shared.apply(FRONT, listening('shop.example.com'))
    await shared.ready(FRONT)
  })

  test('takes what the own namespace has reserved, and what another has by its grant', async () => {
    const shared = await Tenants.begin({ unmanagedObjects: level })
    shared.apply('blog/ReservedDomain/own', { domain: '*.blog.example.com' })
    await shared.ready('blog/ReservedDomain/own')
    shared.apply(DOMAIN, { domain: 'web.example.com', ...toBlog })
    await shared.ready(DOMAIN)
    shared.apply(FRONT, listening('a.blog.example.com'))
    await shared.ready(FRONT)
    shared.apply(FRONT, listening('web.example.com'))
    await shared.ready(FRONT)
    const before = shared.writes.length
    shared.apply(DOMAIN, { allowedReferences: null })
    await shared.ready(DOMAIN)
    shared.apply(FRONT, { ...listening('web.example.com'), description: 'edited' })
    await shared.says(FRONT, 'Synced', 'ReferenceNotPermitted')
    expect(edgeWrites(shared, before)).toEqual([])
    expect(shared.condition(FRONT, 'Ready')?.status).toBe('True')
  })
})

test.each([
  ['Deny', false],
  ['Reference', true],
  ['Adopt', true],
] as const)('a literal host that no resource has reserved is taken under %s: %s', async (unmanagedObjects, isTaken) => {
  const shared = await Tenants.begin({ unmanagedObjects })
  await shared.make('reserved_domains', { domain: 'web.example.com' })
  for (const [name, host] of [
    ['unmanaged', 'web.example.com'],
    ['unreserved', 'none.example.com'],
  ] as const) {
    shared.apply(`blog/Edge/${name}`, listening(host))
    // The service itself refuses what nobody has reserved.
    if (isTaken) await shared.says(`blog/Edge/${name}`, 'Synced', name === 'unmanaged' ? 'InSync' : 'Rejected')
    else await shared.says(`blog/Edge/${name}`, 'Synced', 'ReferenceNotPermitted')
  }
  expect(edgeWrites(shared)).toHaveLength(isTaken ? 2 : 0)
  if (isTaken) return
  const said = ['unmanaged', 'unreserved'].map((name) => shared.condition(`blog/Edge/${name}`, 'Synced')?.message)
  expect(said[0]?.replace('web.', '')).toBe(said[1]?.replace('none.', ''))
})

test('in an account of its own namespace, an edge listens on any host', async () => {
  const shared = await Tenants.begin()
  await shared.make('reserved_domains', { domain: 'web.example.com' })
  shared.makeAccount()
  const accountRef = { kind: 'Account', name: 'default' }
  shared.apply('shop/Edge/front', { ...listening('web.example.com'), accountRef })
  await shared.ready('shop/Edge/front')
})

describe('the deletion of a reservation in a shared account', () => {
  const DELETE = 'api DELETE /reserved_domains/{id}'

  /** The operator does not wait for the edge; the service keeps the domain as long as it has the edge. */
  async function refusedByService(shared: Tenants): Promise<void> {
    await until(shared.world, 'sent', () => countOf(shared.writes, DELETE) > 0)
    expect(await shared.says(DOMAIN, 'Ready', 'Rejected')).not.toContain('blog')
  }

  test('does not wait for an edge of another namespace that took its host without a grant', async () => {
    const shared = await Tenants.begin({ unmanagedObjects: 'Adopt' })
    // First come: no resource had reserved the name yet.
    const { id } = await shared.make('reserved_domains', { domain: 'web.example.com' })
    shared.apply(FRONT, listening('web.example.com'))
    await shared.ready(FRONT)
    const adopting = { externalID: id, managementPolicy: 'Manage', deletionPolicy: 'Delete' }
    shared.apply(DOMAIN, { domain: 'web.example.com', ...adopting })
    await shared.ready(DOMAIN)
    shared.delete(DOMAIN)
    await refusedByService(shared)
    shared.delete(FRONT)
    await shared.gone(DOMAIN)
  })

  test('waits for an edge of another namespace that has its host by a grant, also one withdrawn since', async () => {
    const shared = await Tenants.begin()
    shared.apply(DOMAIN, { domain: 'web.example.com', ...toBlog })
    await shared.ready(DOMAIN)
    const reservedDomainRef = { namespace: 'shop', name: 'web' }
    shared.apply(FRONT, { protocol: 'TLS', hostports: [{ type: 'ReservedDomain', reservedDomainRef, port: 443 }] })
    shared.apply('blog/Edge/literal', listening('web.example.com', 8443))
    await shared.ready(FRONT)
    await shared.ready('blog/Edge/literal')
    shared.delete(DOMAIN)
    expect(await shared.says(DOMAIN, 'Ready', 'Deleting')).toContain('in use by Edge blog/front')
    shared.delete(FRONT)
    await until(shared.world, 'it waits for the other', () => {
      return shared.condition(DOMAIN, 'Ready')?.message.includes('Edge blog/literal') ?? false
    })
    expect(countOf(shared.writes, DELETE)).toBe(0)
    shared.apply(DOMAIN, { allowedReferences: null })
    await refusedByService(shared)
    shared.delete('blog/Edge/literal')
    await shared.gone(DOMAIN)
  })

  test('waits for an edge of its own namespace that names its host', async () => {
    const shared = await Tenants.begin()
    shared.apply(DOMAIN, { domain: 'web.example.com' })
    await shared.ready(DOMAIN)
    shared.apply('shop/Edge/own', listening('web.example.com'))
    await shared.ready('shop/Edge/own')
    shared.delete(DOMAIN)
    expect(await shared.says(DOMAIN, 'Ready', 'Deleting')).toContain('Edge/own')
  })
})
