import { describe, expect, test } from 'vitest'
import { SharedWorld } from '../../../builders/shared-world.ts'

const FRONT = 'blog/Edge/front'
const DOMAIN = 'shop/ReservedDomain/web'
const ADDRESS = 'shop/ReservedAddress/ssh'
const toBlog = { allowedReferences: [{ namespaces: ['blog'] }] }

function listening(host: string, port = 443) {
  return { protocol: 'TCP', hostports: [{ type: 'Host', host, port }] }
}

/** Writes of edges at the API. */
function edgeWrites({ world }: SharedWorld, from = 0): readonly string[] {
  return world.writes.slice(from).filter((write) => /^(POST|PATCH) edges\/t/.test(write))
}

/** The API may spell names in its own way. */
function respell({ world }: SharedWorld, id: string): void {
  const object = world.account.get('reserved_domains', id)
  if (object === undefined) throw new Error(`${id} is not at the API`)
  world.account.replace('reserved_domains', { ...object, domain: String(object.domain).toUpperCase() })
}

describe.each(['Deny', 'Adopt'] as const)('a literal host in a shared account, unmanaged objects: %s', (level) => {
  test.each([
    ['the domain of another namespace', 'web.example.com', 'web.example.com'],
    ['a name below the wildcard of another namespace', '*.example.com', 'web.example.com'],
  ])('does not take %s', async (_what, domain, host) => {
    const shared = SharedWorld.start({ unmanagedObjects: level })
    shared.apply(DOMAIN, { domain })
    const id = await shared.ready(DOMAIN)
    respell(shared, id)
    await shared.world.clock.advance(120_000)
    shared.apply(FRONT, listening(host))
    const said = await shared.says(FRONT, 'Synced', 'ReferenceNotPermitted')
    expect(said).toContain(`spec.hostports[0].host: ${host} is reserved by no resource that permits references`)
    expect(said).not.toMatch(/shop|rd_|reserved_domains/)
    expect(shared.condition(FRONT, 'Stalled')?.status).toBe('True')
    expect(edgeWrites(shared)).toEqual([])
  })

  test('does not take the address of another namespace', async () => {
    const shared = SharedWorld.start({ unmanagedObjects: level })
    shared.world.account.shownBeside.set('reserved_addrs', { addr: '1.TCP.tunnel.example:20000' })
    shared.apply(ADDRESS, {})
    await shared.ready(ADDRESS)
    shared.apply(FRONT, listening('1.tcp.tunnel.example', 20_000))
    await shared.says(FRONT, 'Synced', 'ReferenceNotPermitted')
    expect(edgeWrites(shared)).toEqual([])
  })

  test('does not reach an own wildcard past the exact domain of another namespace', async () => {
    const shared = SharedWorld.start({ unmanagedObjects: level })
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
    const shared = SharedWorld.start({ unmanagedObjects: level })
    shared.apply('blog/ReservedDomain/own', { domain: '*.blog.example.com' })
    await shared.ready('blog/ReservedDomain/own')
    shared.apply(DOMAIN, { domain: 'web.example.com', ...toBlog })
    await shared.ready(DOMAIN)
    shared.apply(FRONT, listening('a.blog.example.com'))
    await shared.ready(FRONT)
    shared.apply(FRONT, listening('web.example.com'))
    await shared.ready(FRONT)
    const before = shared.world.writes.length
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
  const shared = SharedWorld.start({ unmanagedObjects })
  shared.world.account.create('reserved_domains', { domain: 'web.example.com' })
  for (const [name, host] of [
    ['unmanaged', 'web.example.com'],
    ['unreserved', 'none.example.com'],
  ] as const) {
    shared.apply(`blog/Edge/${name}`, listening(host))
    if (isTaken) await shared.ready(`blog/Edge/${name}`)
    else await shared.says(`blog/Edge/${name}`, 'Synced', 'ReferenceNotPermitted')
  }
  expect(edgeWrites(shared)).toHaveLength(isTaken ? 2 : 0)
  if (isTaken) return
  const said = ['unmanaged', 'unreserved'].map((name) => shared.condition(`blog/Edge/${name}`, 'Synced')?.message)
  expect(said[0]?.replace('web.', '')).toBe(said[1]?.replace('none.', ''))
})

test('in an account of its own namespace, an edge listens on any host', async () => {
  const shared = SharedWorld.start()
  shared.world.account.create('reserved_domains', { domain: 'web.example.com' })
  shared.world.apply('Edge', 'front', listening('web.example.com'))
  await shared.ready('shop/Edge/front')
})

describe('the deletion of a reservation in a shared account', () => {
  test('does not wait for an edge of another namespace that took its host without a grant', async () => {
    const shared = SharedWorld.start({ unmanagedObjects: 'Reference' })
    // First come: nobody had reserved the name yet.
    shared.apply(FRONT, listening('web.example.com'))
    await shared.ready(FRONT)
    shared.apply(DOMAIN, { domain: 'web.example.com' })
    await shared.ready(DOMAIN)
    shared.delete(DOMAIN)
    await shared.gone(DOMAIN)
  })

  test('waits for an edge of another namespace that has its host by a grant, also one withdrawn since', async () => {
    const shared = SharedWorld.start()
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
    await shared.world.until('it waits for the other', () => {
      return shared.condition(DOMAIN, 'Ready')?.message.includes('Edge blog/literal') ?? false
    })
    shared.apply(DOMAIN, { allowedReferences: null })
    await shared.gone(DOMAIN)
  })

  test('waits for an edge of its own namespace that names its host', async () => {
    const shared = SharedWorld.start()
    shared.apply(DOMAIN, { domain: 'web.example.com' })
    await shared.ready(DOMAIN)
    shared.apply('shop/Edge/own', listening('web.example.com'))
    await shared.ready('shop/Edge/own')
    shared.delete(DOMAIN)
    expect(await shared.says(DOMAIN, 'Ready', 'Deleting')).toContain('Edge/own')
  })
})
