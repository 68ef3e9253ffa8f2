import { expect, test } from 'vitest'
import { World } from './support/world.ts'

test('a policy whose only rule changes its action is never empty meanwhile', async () => {
  await using world = await World.open()
  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  await world.ready('IPPolicy', 'office')
  const mark = world.mark()
  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Deny' }] })
  await world.ready('IPPolicy', 'office')
  expect(await world.remote('ip_policy_rules')).toMatchObject([{ cidr: '10.0.0.0/8', action: 'deny' }])
  const writes = world.writes(mark).map(({ method }) => method)
  expect(writes).toEqual(['POST', 'DELETE', 'POST', 'DELETE'])
})

test('rules carry their own metadata next to the marker, and too many bytes of it are refused', async () => {
  await using world = await World.open()
  const rule = { cidr: '10.0.0.0/8', action: 'Allow', metadata: { team: 'net' } }
  await world.apply('IPPolicy', 'office', { rules: [rule] })
  await world.ready('IPPolicy', 'office')
  expect(await world.remote('ip_policy_rules')).toMatchObject([
    { metadata: expect.stringMatching(/^\{"culvert":\{[^{}]*\},"team":"net"\}$/) },
  ])
  await world.apply('IPPolicy', 'office', { rules: [{ ...rule, metadata: { team: '"'.repeat(100) } }] })
  const stalled = await world.reason('IPPolicy', 'office', 'Stalled', 'InvalidSpec')
  expect(stalled.message).toContain('spec.rules[10.0.0.0/8].metadata')
})
