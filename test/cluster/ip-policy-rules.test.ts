import { expect, test } from 'vitest'
import { until } from './support/wait.ts'
import { conditionOf, World } from './support/world.ts'

type Spec = Record<string, unknown>

const open: Spec = { rulesSource: 'IPPolicyRules' }
const rule = (cidr: string, action = 'Allow'): Spec => ({ ipPolicyRef: { name: 'office' }, cidr, action })
const edge: Spec = { protocol: 'TCP', ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } }

async function rules(world: World): Promise<readonly string[]> {
  return (await world.remote('ip_policy_rules')).map(({ cidr, action }) => `${action} ${cidr}`).toSorted()
}

async function ruleCount(world: World, count: number): Promise<void> {
  await world.until('IPPolicy', 'office', `counts ${count} rules`, ({ status }) => status?.ruleCount === count)
}

/** Methods of the writes to rules since `mark`. */
function ruleWrites(world: World, mark: number): readonly string[] {
  const writes = world.writes(mark).filter(({ path }) => path.startsWith('/ip_policy_rules'))
  return writes.map(({ method, status }) => `${method} ${status}`)
}

test('a policy counts the rules that name it, and an edge waits until all of them exist', async () => {
  await using world = await World.open()
  await world.apply('Edge', 'front', edge)
  await world.apply('IPPolicy', 'office', open)
  const waiting = await world.until('Edge', 'front', 'waits for a rule', (cr) => {
    return conditionOf(cr, 'Ready')?.message.includes('IPPolicy/office has no rules') ?? false
  })
  expect(waiting.status?.id).toBeUndefined()

  // The one cannot be made, so the other is not enough.
  await world.apply('IPPolicyRule', 'broken', { ...rule('10.0.0.0/8', 'Deny'), rawMetadata: '{"culvert": 1}' })
  await world.reason('IPPolicyRule', 'broken', 'Stalled', 'InvalidSpec')
  await world.apply('IPPolicyRule', 'good', rule('10.1.0.0/16'))
  await world.ready('IPPolicyRule', 'good')
  await ruleCount(world, 1)
  await world.until('Edge', 'front', 'waits for the broken rule', (cr) => {
    return conditionOf(cr, 'Ready')?.message.includes('waits for IPPolicyRule/broken') ?? false
  })
  expect(await world.remote('edges/tcp')).toEqual([])

  await world.apply('IPPolicyRule', 'broken', rule('10.0.0.0/8', 'Deny'))
  await world.ready('Edge', 'front')
  await ruleCount(world, 2)
  const names = (await world.remote('ip_policy_rules')).map(({ metadata }) => String(metadata))
  for (const metadata of names) expect(metadata).toContain('"kind":"IPPolicyRule"')
})

test('a changed range is an update, and a changed action a new rule, during which the policy is never empty', async () => {
  await using world = await World.open()
  await world.apply('IPPolicy', 'office', open)
  await world.apply('IPPolicyRule', 'lone', rule('10.0.0.0/8'))
  const { status } = await world.ready('IPPolicyRule', 'lone')
  await world.apply('Edge', 'front', edge)
  await world.ready('Edge', 'front')

  const first = world.mark()
  await world.apply('IPPolicyRule', 'lone', rule('10.0.0.0/16'))
  await world.ready('IPPolicyRule', 'lone')
  expect(await world.remote('ip_policy_rules')).toMatchObject([{ id: status?.id, cidr: '10.0.0.0/16' }])
  expect(ruleWrites(world, first)).toEqual(['PATCH 200'])

  const second = world.mark()
  await world.apply('IPPolicyRule', 'lone', rule('10.0.0.0/16', 'Deny'))
  const replaced = await world.until('IPPolicyRule', 'lone', 'is another rule', (cr) => {
    return cr.status?.id !== undefined && cr.status.id !== status?.id
  })
  await until('the rule is alone', async () => (await rules(world)).length === 1)
  expect(await world.remote('ip_policy_rules')).toMatchObject([{ id: replaced.status?.id, action: 'deny' }])
  expect(ruleWrites(world, second)).toEqual(['POST 201', 'DELETE 204', 'POST 201', 'DELETE 204'])
  await ruleCount(world, 1)
})

test('a policy with inline rules accepts no others until rulesSource says so; then its own stay', async () => {
  await using world = await World.open()
  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  await world.ready('IPPolicy', 'office')
  const mark = world.mark()
  await world.apply('IPPolicyRule', 'other', rule('10.1.0.0/16'))
  const refused = await world.reason('IPPolicyRule', 'other', 'Stalled', 'ReferenceRefused')
  expect(refused.message).toContain('set its rulesSource: IPPolicyRules')
  expect(world.writes(mark)).toEqual([])

  await world.apply('IPPolicy', 'office', { ...open, rules: undefined })
  await world.ready('IPPolicyRule', 'other')
  await ruleCount(world, 2)
  expect(await rules(world)).toEqual(['allow 10.0.0.0/8', 'allow 10.1.0.0/16'])
})

test('a policy that returns to inline rules enforces them in the account, whatever happens to the others', {
  tags: 'nightly',
}, async () => {
  await using world = await World.open()
  await world.apply('IPPolicy', 'office', open)
  await world.apply('IPPolicyRule', 'kept', rule('10.0.0.0/8'))
  await world.apply('IPPolicyRule', 'gone', rule('10.1.0.0/16'))
  for (const name of ['kept', 'gone']) await world.ready('IPPolicyRule', name)
  await ruleCount(world, 2)

  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }], rulesSource: undefined })
  for (const name of ['kept', 'gone']) await world.reason('IPPolicyRule', name, 'Stalled', 'ReferenceRefused')
  await world.ready('IPPolicy', 'office')
  await ruleCount(world, 1)
  const mark = world.mark()
  for (const name of ['kept', 'gone']) {
    await world.delete('IPPolicyRule', name)
    await world.gone('IPPolicyRule', name)
  }
  await world.resync()
  expect(await rules(world)).toEqual(['allow 10.0.0.0/8'])
  expect(world.writes(mark)).toEqual([])
})

test('the last rule of a policy in use stays until there is another one or no dependent', async () => {
  await using world = await World.open()
  await world.apply('IPPolicy', 'office', open)
  await world.apply('IPPolicyRule', 'old', rule('10.0.0.0/8'))
  await world.apply('Edge', 'front', edge)
  await world.ready('Edge', 'front')

  await world.delete('IPPolicyRule', 'old')
  const held = await world.until('IPPolicyRule', 'old', 'stays', (cr) => {
    return conditionOf(cr, 'Reconciling')?.reason === 'Deleting'
  })
  expect(conditionOf(held, 'Reconciling')?.message).toContain('the last rule of a policy that Edge/front uses')
  expect(await rules(world)).toEqual(['allow 10.0.0.0/8'])

  await world.apply('IPPolicyRule', 'new', rule('10.1.0.0/16'))
  await world.gone('IPPolicyRule', 'old', 60_000)
  expect(await rules(world)).toEqual(['allow 10.1.0.0/16'])
  await ruleCount(world, 1)

  // All at once: the policy and its rule wait for the edge, and go when it has gone.
  for (const [kind, name] of [
    ['IPPolicy', 'office'],
    ['IPPolicyRule', 'new'],
    ['Edge', 'front'],
  ] as const) {
    await world.delete(kind, name)
  }
  await world.gone('IPPolicy', 'office', 60_000)
  expect(await world.remote('ip_policies')).toEqual([])
})

test('rules belong to the account of their policy, which may be created later', async () => {
  await using world = await World.open()
  await world.secret('team', { apiKey: world.emulator.apiKey })
  await world.apply('Account', 'team', { baseURL: world.emulator.url, apiKeySecretRef: { name: 'team' } })
  await world.apply('IPPolicyRule', 'early', rule('10.0.0.0/8'))
  const waiting = await world.reason('IPPolicyRule', 'early', 'Ready', 'ReferenceNotReady')
  expect(waiting.message).toContain('IPPolicy/office does not exist')

  await world.apply('IPPolicy', 'office', { ...open, accountRef: { name: 'team' } })
  const policy = await world.ready('IPPolicy', 'office')
  const made = await world.ready('IPPolicyRule', 'early')
  const team = { kind: 'Account', name: 'team' }
  expect([policy.status?.accountRef, made.status?.accountRef]).toEqual([team, team])
})
