import { expect, test } from 'vitest'
import { formatMarker } from '../../src/managed/markers/marker.ts'
import { World } from './support/world.ts'

const DOMAIN = 'taken.tunnel.example'

/** The message of the resource that came too late. */
async function refusal(world: World, kind: string, name: string, spec: Record<string, unknown>): Promise<string> {
  await world.apply(kind, name, spec)
  const { message } = await world.reason(kind, name, 'Synced', 'Conflict')
  return message
}

test('a name taken by a resource of the namespace is refused with that resource’s name', async () => {
  await using world = await World.open()
  await world.apply('ReservedDomain', 'first', { domain: DOMAIN })
  await world.ready('ReservedDomain', 'first')
  const second = await refusal(world, 'ReservedDomain', 'second', { domain: DOMAIN })
  expect(second).toContain(`${DOMAIN} belongs to ReservedDomain/first in this namespace`)

  const edge = { protocol: 'TLS', hostports: [{ type: 'Host', host: DOMAIN, port: 443 }] }
  await world.apply('Edge', 'db', edge)
  await world.ready('Edge', 'db')
  expect(await refusal(world, 'Edge', 'late', edge)).toContain(`${DOMAIN}:443 belongs to Edge/db in this namespace`)

  // An edit comes too late, too; what was there before continues working.
  await world.apply('Edge', 'moving', { ...edge, hostports: [{ type: 'Host', host: DOMAIN, port: 8443 }] })
  await world.ready('Edge', 'moving')
  expect(await refusal(world, 'Edge', 'moving', edge)).toContain('belongs to Edge/db in this namespace')
  expect((await world.get('Edge', 'moving'))?.status).toMatchObject({ hostports: [`${DOMAIN}:8443`] })

  await world.delete('Edge', 'db')
  await world.gone('Edge', 'db')
  await world.annotate('Edge', 'late', { 'culvert.dev/reconcile-requested-at': 'free' })
  await world.ready('Edge', 'late')
})

test('a name taken by an unmanaged object is refused with its id, and adopting it is a remedy', async () => {
  await using world = await World.open()
  const { body } = await world.api.post('/reserved_domains', { domain: DOMAIN })
  const message = await refusal(world, 'ReservedDomain', 'shop', { domain: DOMAIN })
  expect(message).toContain(`${DOMAIN} belongs to ${body.id}, which no resource here manages: adopt it`)
  await world.apply('ReservedDomain', 'shop', {
    domain: DOMAIN,
    externalID: body.id,
    managementPolicy: 'Manage',
  })
  await world.ready('ReservedDomain', 'shop')
})

test('a name taken by another installation is refused with that reason', { tags: 'nightly' }, async () => {
  await using world = await World.open()
  const mark = { installation: 'other', kind: 'ReservedDomain', namespace: 'a', name: 'b', uid: 'u', nonce: '0' }
  const { body } = await world.api.post('/reserved_domains', { domain: DOMAIN, metadata: formatMarker(mark) })
  const message = await refusal(world, 'ReservedDomain', 'shop', { domain: DOMAIN })
  expect(message).toContain(`${DOMAIN} belongs to ${body.id} of another installation`)
})
