import { expect, inject, test } from 'vitest'
import { runProgram } from '../../controlplane/run-program.ts'
import './provided.ts'
import { World } from './support/world.ts'

/** The one row of a table of `kubectl get`, by its columns. */
async function rowOf(world: World, kind: string, name: string, ...flags: string[]): Promise<Record<string, string>> {
  const asked = ['--kubeconfig', world.kubeconfig, '-n', world.namespace, 'get', `${kind}.culvert.dev`, name, ...flags]
  const { code, stdout, stderr } = await runProgram(inject('kubectlPath'), asked)
  expect(stderr).toBe('')
  expect(code).toBe(0)
  const [head = '', row = ''] = stdout.split('\n')
  // A cell may be empty, so that only the places of the headings tell which is which.
  const columns = [...head.matchAll(/\S+(?: \S+)*/g)]
  return Object.fromEntries(
    columns.map(({ 0: column, index }, at) => [column, row.slice(index, columns[at + 1]?.index).trim()]),
  )
}

test('kubectl get shows that an edit was refused, although the resource is Ready', { tags: 'nightly' }, async () => {
  await using world = await World.open()
  const spec = { domain: 'edited.tunnel.example' }
  await world.apply('ReservedDomain', 'shop', spec)
  const { status } = await world.ready('ReservedDomain', 'shop')
  expect(await rowOf(world, 'reserveddomains', 'shop')).toEqual({
    NAME: 'shop',
    DOMAIN: spec.domain,
    CERTIFICATE: 'Unknown',
    READY: 'True',
    SYNCED: 'True',
    REASON: 'Available',
    AGE: expect.any(String),
  })

  const match = { method: 'PATCH', path: '/reserved_domains/**', every: true }
  world.emulator.admin.addFault({ match, act: { type: 'status', status: 400 } })
  await world.apply('ReservedDomain', 'shop', { ...spec, description: 'edited' })
  const { message } = await world.reason('ReservedDomain', 'shop', 'Synced', 'Rejected')
  expect(await rowOf(world, 'reserveddomains', 'shop')).toMatchObject({ READY: 'True', SYNCED: 'False' })
  expect(await rowOf(world, 'reserveddomains', 'shop', '-o', 'wide')).toMatchObject({
    ID: status?.id,
    'SYNC MESSAGE': message,
  })
})

test('kubectl get shows how many tunnels of a group are online', { tags: 'nightly' }, async () => {
  await using world = await World.open()
  const labels = { app: 'shop' }
  await world.apply('Backend', 'shop', { type: 'TunnelGroup', tunnelGroup: { labels } })
  const { status } = await world.ready('Backend', 'shop')
  expect(status?.tunnelCount).toBe(0)
  expect(await world.reason('Backend', 'shop', 'TunnelsOnline', 'NoTunnels')).toMatchObject({ status: 'False' })

  const { body } = await world.api.post('/credentials', {})
  const agents = [1, 2].map(() => {
    return world.emulator.admin.connectAgent({ token: String(body.token), tunnels: [{ labels }] })
  })
  // It comes with what is listed anyway, to find drift.
  await world.resync()
  await world.reason('Backend', 'shop', 'TunnelsOnline', 'TunnelsOnline')
  expect(await rowOf(world, 'backends', 'shop')).toMatchObject({ TYPE: 'TunnelGroup', TUNNELS: '2', SYNCED: 'True' })

  for (const { id } of agents) world.emulator.admin.disconnectAgent(String(id))
  await world.resync()
  await world.reason('Backend', 'shop', 'TunnelsOnline', 'NoTunnels')
  expect(await rowOf(world, 'backends', 'shop')).toMatchObject({ TUNNELS: '0', READY: 'True' })
  const warnings = (await world.events('Backend', 'shop')).filter(({ type }) => type === 'Warning')
  expect(warnings).toEqual([])
})

test('kubectl get shows where an edge listens as text', { tags: 'nightly' }, async () => {
  await using world = await World.open()
  await world.apply('ReservedDomain', 'shop', { domain: 'row.tunnel.example' })
  const hostports = [8443, 443].map((port) => ({ type: 'ReservedDomain', reservedDomainRef: { name: 'shop' }, port }))
  await world.apply('Edge', 'shop', { protocol: 'TLS', hostports })
  await world.ready('Edge', 'shop')
  const row = { PROTOCOL: 'TLS', HOSTPORTS: 'row.tunnel.example:443,row.tunnel.example:8443', READY: 'True' }
  expect(await rowOf(world, 'edges', 'shop')).toMatchObject(row)
})
