import { expect, test } from 'vitest'
import { documentedMetrics } from '../builders/metrics-page.ts'
import { until } from './support/wait.ts'
import { World } from './support/world.ts'

const byName = (left: string, right: string) => left.localeCompare(right)

test('a leading operator exposes the metrics of docs/metrics.md and no others', async () => {
  await using world = await World.open()
  const shown = [...(await world.operator.metrics()).matchAll(/^# TYPE (\S+) (\w+)$/gm)]
  const page = [...documentedMetrics()].map(([name, { type }]) => `${name} ${type}`)
  expect(shown.map(([, name, type]) => `${name} ${type}`).toSorted(byName)).toEqual(page.toSorted(byName))
})

test('the metric of a working resource has the reason why it differs from its spec', { tags: 'nightly' }, async () => {
  await using world = await World.open()
  const { operator } = world
  const counted = (...labels: string[]) => operator.metric('culvert_resources', 'kind="IPPolicy"', ...labels)
  await world.apply('IPPolicy', 'office', { allowEmpty: true })
  await world.ready('IPPolicy', 'office')
  await until('it is in sync', async () => {
    return (await counted('ready="True"', 'synced="True"', 'reason="Available"')) === 1
  })
  const match = { method: 'PATCH', path: '/ip_policies/**', every: true }
  world.emulator.admin.addFault({ match, act: { type: 'status', status: 400 } })
  await world.apply('IPPolicy', 'office', { allowEmpty: true, description: 'edited' })
  await world.reason('IPPolicy', 'office', 'Synced', 'Rejected')
  await until('it is not in sync', async () => {
    return (await counted('ready="True"', 'synced="False"', 'reason="Rejected"')) === 1
  })
  expect(await counted()).toBe(1)
})

test('metrics show the state of resources and accounts, and none of a deleted account', async () => {
  await using world = await World.open()
  const { operator, namespace } = world
  const account = `account="Account/${namespace}/default"`
  await world.apply('IPPolicy', 'office', { allowEmpty: true })
  await world.apply('IPRestriction', 'api', { type: 'API', enforcement: 'Warn', ipPolicyRefs: [{ name: 'none' }] })
  await world.ready('IPPolicy', 'office')
  await world.reason('IPRestriction', 'api', 'Ready', 'ReferenceNotReady')
  const resources = (kind: string, reason: string) => {
    return operator.metric('culvert_resources', `kind="${kind}"`, `reason="${reason}"`)
  }
  await until('both are counted', async () => (await resources('IPRestriction', 'ReferenceNotReady')) === 1)
  expect(await resources('IPPolicy', 'Available')).toBe(1)
  expect(await operator.metric('culvert_resources', 'kind="IPPolicy"')).toBe(1)
  expect(await operator.metric('culvert_account_state', account, 'ready="True"')).toBe(1)
  expect(await operator.metrics()).toContain(`culvert_rate_limit_backlog_seconds{${account}} 0`)
  expect(await operator.metric('culvert_build_info', `node="${process.version}"`)).toBe(1)
  expect(await operator.metric('leader_election_master_status')).toBe(1)

  await world.annotate('IPRestriction', 'api', { 'culvert.dev/paused': 'true' })
  await until('it counts as paused', async () => (await resources('IPRestriction', 'Paused')) === 1)

  await world.setKey('wrong')
  await world.reason('Account', 'default', 'Ready', 'Unauthorized')
  await until('the account is shown as refused', async () => {
    return (await operator.metric('culvert_account_state', account, 'ready="False"', 'reason="Unauthorized"')) === 1
  })
  expect(await operator.metric('culvert_account_state', account)).toBe(1)

  await world.setKey(world.emulator.apiKey)
  await until('it is Ready again', async () => {
    return (await operator.metric('culvert_account_state', account, 'ready="True"')) === 1
  })
  await world.ready('IPPolicy', 'office')
  expect(await operator.metrics()).toContain(`culvert_orphans{${account}} 0`)
  for (const [kind, name] of [
    ['IPRestriction', 'api'],
    ['IPPolicy', 'office'],
    ['Account', 'default'],
  ] as const) {
    await world.delete(kind, name)
    await world.gone(kind, name)
  }
  await until('nothing tells of it', async () => !(await operator.metrics()).includes(account))
})
