import { expect, test } from 'vitest'
import { begin, conditionOf, ready, until } from '../../simulation/scenario.ts'

test('an edge reports once whether agents behind a weighted backend can answer, and again when that changes', async () => {
  const { world, writes } = await begin(['Edge', 'Backend'])
  const { admin } = world.api.emulator
  const spec = {
    protocol: 'TCP',
    backend: { enabled: true, name: 'shares' },
  }
  const share = (weight: number) => ({
    type: 'Weighted',
    weighted: { backendRefs: [{ name: 'group', weight }] },
  })
  const serving = (): string | undefined => {
    const edge = world.get('Edge', 'shop')
    const condition = edge && conditionOf(edge, 'Serving')
    return condition && `${condition.status} ${condition.reason}`
  }
  world.apply('Backend', 'group', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } })
  world.apply('Backend', 'shares', share(1))
  world.apply('Edge', 'shop', spec)
  await ready(world, 'Edge', 'shop')
  await until(world, 'no tunnel', () => serving() === 'False NoTunnels')

  const { token } = await world.api.ask('POST', '/credentials', {})
  const before = writes.length
  const { id } = admin.connectAgent({ token: String(token), tunnels: [{ labels: { app: 'shop' } }] })
  await until(world, 'a tunnel', () => serving() === 'True TunnelsOnline')
  expect(writes.slice(before)).toEqual(
    ['backends/group', 'backends/shares', 'edges/shop'].map((each) => `kubernetes PATCH /${each}/status`),
  )

  admin.disconnectAgent(id)
  await until(world, 'no tunnel again', () => serving() === 'False NoTunnels')
  world.apply('Backend', 'shares', share(0))
  await until(world, 'no weight', () => serving() === 'False NoWeight')
  world.apply('Edge', 'shop', { ...spec, backend: { ...spec.backend, enabled: false } })
  await until(world, 'disabled', () => serving() === 'False BackendDisabled')

  const { length } = writes
  await world.advance(3_600_000)
  expect(writes.slice(length)).toEqual([])
})

test('an edge reports nothing of a backend that no resource manages', async () => {
  const { world } = await begin(['Edge'])
  const { id } = await world.api.ask('POST', '/backends/tunnel_group', { labels: { app: 'shop' } })
  const backend = { enabled: true, id: String(id) }
  world.apply('Edge', 'shop', { protocol: 'TCP', backend })
  await ready(world, 'Edge', 'shop')
  const edge = world.get('Edge', 'shop')
  expect(edge && conditionOf(edge, 'Serving')).toBeUndefined()
})
