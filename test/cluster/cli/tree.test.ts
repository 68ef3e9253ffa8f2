import { describe, expect, test } from 'vitest'
import { runTree, type TreeFlags } from '../../../src/cli/tree-command.ts'
import { ask } from '../support/ask.ts'
import { culvertUnread } from '../support/culvert.ts'
import { World } from '../support/world.ts'

const group = { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }

async function tree(world: World, args: readonly string[], flags: Partial<TreeFlags> = {}): Promise<readonly string[]> {
  const all: TreeFlags = { output: 'text', reverse: false, allNamespaces: false, ...flags }
  return (await ask(world, (cluster) => runTree(cluster, args, all))).lines
}

/** The lines without states. */
const names = (lines: readonly string[]): readonly string[] => lines.map((line) => line.replace(/ {2,}[A-Z].*$/, ''))

/** An edge over two backends, restricted by a policy with a rule of its own, and one that waits. */
async function applyShop(world: World): Promise<void> {
  await world.apply('IPPolicy', 'office', { rulesSource: 'IPPolicyRules' })
  await world.apply('IPPolicyRule', 'vpn', { ipPolicyRef: { name: 'office' }, cidr: '10.0.0.0/8', action: 'Allow' })
  await world.apply('Backend', 'web', group)
  await world.apply('Backend', 'canary', { type: 'Failover', failover: { backendRefs: [{ name: 'web' }] } })
  const ipRestriction = { ipPolicyRefs: [{ name: 'office' }] }
  await world.apply('Edge', 'shop', { protocol: 'TLS', backend: { name: 'canary' }, ipRestriction })
  await world.apply('Edge', 'waiting', { protocol: 'TLS', backend: { name: 'absent' } })
  await world.ready('Edge', 'shop')
  await world.reason('Edge', 'waiting', 'Synced', 'ReferenceNotReady')
}

describe('tree', () => {
  test('shows a namespace, a resource, and what uses one', async () => {
    await using world = await World.open()
    await applyShop(world)
    const all = await tree(world, [])
    expect(names(all)).toEqual([
      'Edge/shop',
      '├─ backend: Backend/canary',
      '│  └─ failover: Backend/web',
      '└─ ipRestriction: IPPolicy/office',
      '   └─ part: IPPolicyRule/vpn',
      'Edge/waiting',
      '└─ backend: Backend/absent',
    ])
    expect(all.at(-2)).toMatch(/Waiting {2}ReferenceNotReady: spec\.backend/)
    expect(all.at(-1)).toMatch(/Missing {2}there is no such resource$/)
    expect(names(await tree(world, ['edge/shop']))).toEqual(names(all).slice(0, 5))
    expect(names(await tree(world, ['backend/web'], { reverse: true }))).toEqual([
      'Backend/web',
      '└─ failover: Backend/canary',
      '   └─ backend: Edge/shop',
    ])
    expect(names(await tree(world, ['ippolicyrule/vpn'], { reverse: true }))).toEqual([
      'IPPolicyRule/vpn',
      '└─ part: IPPolicy/office',
      '   └─ ipRestriction: Edge/shop',
    ])
    const members = names(await tree(world, ['account/default'], { reverse: true }))
    expect(members).toContain('├─ account: IPPolicyRule/vpn')
    const json = JSON.parse((await tree(world, ['edge/shop'], { output: 'json' })).join('\n'))
    expect(json).toMatchObject([
      { kind: 'Edge', state: 'Ready', branches: [{ field: 'backend' }, { kind: 'IPPolicy' }] },
    ])
  })

  test('ends quietly when nobody reads on', async () => {
    await using world = await World.open()
    await applyShop(world)
    const { code, stderr } = await culvertUnread(['tree', '-n', world.namespace], world)
    expect(stderr).toBe('')
    expect(code).toBe(0)
  })
})
