import { expect, test } from 'vitest'
import { parseManifestsAt } from '../../src/cli/manifests.ts'
import type { Manifest } from '../kinds/kind-test-data.ts'
import { exportFrom, planIn, plannedIn, sentIn } from './support/planning.ts'
import { World } from './support/world.ts'

const rules = [
  { cidr: '198.51.100.0/24', action: 'Allow' },
  { cidr: '198.51.100.7/32', action: 'Deny' },
]

const shop: readonly Manifest[] = [
  { kind: 'Edge', name: 'shop', spec: edge({ ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } }) },
  { kind: 'Backend', name: 'shop', spec: { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } } },
  { kind: 'IPPolicy', name: 'office', spec: { description: 'The office', rules } },
  { kind: 'ReservedAddress', name: 'shop', spec: {} },
  { kind: 'APIKey', name: 'pipeline', spec: { description: 'For the pipeline' } },
]

function edge(more: Record<string, unknown>) {
  const hostports = [{ type: 'ReservedAddress', reservedAddressRef: { name: 'shop' } }]
  return { protocol: 'TCP', hostports, backend: { name: 'shop' }, ...more }
}

async function applied(world: World, manifests: readonly Manifest[]): Promise<void> {
  for (const { kind, name, spec } of manifests) await world.apply(kind, name, spec)
  for (const { kind, name } of manifests) await world.ready(kind, name)
}

/** Plans, applies, and expects that what was planned was sent. */
async function planAndApply(world: World, manifests: readonly Manifest[]): Promise<number> {
  const plan = await planIn(world, manifests)
  const mark = world.mark()
  await applied(world, manifests)
  expect(sentIn(world, mark), plan.output).toEqual(plannedIn(plan))
  const after = await planIn(world, manifests)
  expect(after).toMatchObject({ code: 0, errors: '' })
  expect(plannedIn(after)).toEqual([])
  return plan.code
}

test('what a plan for a cluster says is what the operator sends once the manifests are applied', {
  timeout: 240_000,
}, async () => {
  await using world = await World.open()
  await world.ready('Account', 'default')
  expect(await planAndApply(world, shop)).toBe(2)

  const opened = shop.map((each) => (each.kind === 'Edge' ? { ...each, spec: edge({}) } : each))
  expect(await planAndApply(world, opened)).toBe(3)

  // References lead to what the cluster has.
  const alone = opened.filter(({ kind }) => kind === 'Edge')
  expect(await planIn(world, alone)).toMatchObject({ code: 0, errors: '' })

  const pruned = opened.filter(({ kind }) => kind !== 'APIKey')
  const plan = await planIn(world, pruned, true)
  expect(plan.code).toBe(3)
  expect(plannedIn(plan)).toEqual(['DELETE api_keys'])
  const mark = world.mark()
  await world.delete('APIKey', 'pipeline')
  await world.gone('APIKey', 'pipeline')
  expect(sentIn(world, mark)).toEqual(plannedIn(plan))
})

test('an exported account that is applied, over its resources and without them, is not written to', {
  tags: 'nightly',
  timeout: 240_000,
}, async () => {
  await using world = await World.open()
  await world.ready('Account', 'default')
  await applied(world, shop)
  await world.api.post('/ip_policies', { description: 'Made by hand', metadata: '{ "by":  "hand" }' })
  const { output, errors } = await exportFrom(world)
  expect(errors).toBe('')
  const manifests = parseManifestsAt(output, 'export').flatMap(({ manifest }): Manifest[] => {
    const { kind, metadata, spec } = manifest
    // The key with which the operator itself calls.
    return kind === 'APIKey' && metadata.name !== 'pipeline'
      ? []
      : [{ kind, name: metadata.name, spec: spec as Record<string, unknown> }]
  })
  expect(manifests.map(({ kind, name }) => `${kind}/${name}`).toSorted()).toEqual(
    [...shop.map(({ kind, name }) => `${kind}/${name}`), 'IPPolicy/made-by-hand'].toSorted(),
  )
  const mark = world.mark()
  await applied(world, manifests)
  expect(world.writes(mark)).toEqual([])

  await world.operator.kill()
  const retained = manifests.filter(({ kind }) => kind !== 'APIKey')
  for (const { kind, name } of retained) {
    await world.apply(kind, name, {
      ...manifests.find((each) => each.kind === kind && each.name === name)?.spec,
      deletionPolicy: 'Retain',
    })
  }
  await world.startOperator()
  for (const { kind, name } of retained) await world.delete(kind, name)
  for (const { kind, name } of retained) await world.gone(kind, name)
  await applied(world, retained)
  expect(world.writes(mark)).toEqual([])
})
