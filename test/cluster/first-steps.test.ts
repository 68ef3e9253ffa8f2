import { expect, test } from 'vitest'
import { World } from './support/world.ts'

test('an IPPolicy becomes an object with its rules, and goes with it', async () => {
  await using world = await World.open()
  await world.apply('IPPolicy', 'office', { description: 'office', rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  const policy = await world.ready('IPPolicy', 'office')
  expect(await world.remote('ip_policies')).toMatchObject([{ id: policy.status?.id, description: 'office' }])
  expect(await world.remote('ip_policy_rules')).toMatchObject([{ cidr: '10.0.0.0/8', action: 'allow' }])
  await world.delete('IPPolicy', 'office')
  await world.gone('IPPolicy', 'office')
  expect(await world.remote('ip_policies')).toEqual([])
})
