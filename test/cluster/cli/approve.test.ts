import { describe, expect, test } from 'vitest'
import { culvert } from '../support/culvert.ts'
import { World } from '../support/world.ts'

const group = { managementPolicy: 'Plan', type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }
const run = (world: World, ...args: readonly string[]) => culvert([...args, '-n', world.namespace], world)

describe('plans that wait for approval', () => {
  test('approve shows the plan, lets it run, and waits for the end', async () => {
    await using world = await World.open()
    await world.apply('Backend', 'web', { ...group, description: 'one' })
    const { message } = await world.reason('Backend', 'web', 'Synced', 'AwaitingApproval')
    expect(await world.remote('backends/tunnel_group')).toEqual([])
    expect(message).toContain('culvert approve Backend/web')

    const why = await run(world, 'why', 'backend/web')
    expect(why.stdout).toContain(`culvert approve -n ${world.namespace} backend/web`)
    const asked = await run(world, 'approve', 'backend/web')
    expect(asked.code).toBe(1)
    expect(asked.stderr).toMatch(/the input is not a terminal[\s\S]+--plan [0-9a-f-]+ --yes/)
    expect(await world.remote('backends/tunnel_group')).toEqual([])

    const approved = await run(world, 'approve', 'backend/web', '--yes', '--wait', '--timeout', '30s')
    expect(approved.code, approved.stderr).toBe(0)
    expect(approved.stdout).toContain('1. + create backends/tunnel_group')
    expect(approved.stdout).toContain('description: "one"')
    expect(await world.remote('backends/tunnel_group')).toMatchObject([{ description: 'one' }])
    expect((await world.get('Backend', 'web'))?.status?.plan).toBeUndefined()

    const again = await run(world, 'approve', 'backend/web', '--yes')
    expect(again.code).toBe(1)
    expect(again.stderr).toContain('no plan waits for approval')
  })

  test('approve shows first what opens, and --yes approves nothing that cannot be seen', async () => {
    await using world = await World.open()
    const spec = (count: number, description: string) => ({
      managementPolicy: 'Plan',
      rules: [
        ...Array.from({ length: count }, (_, index) => {
          return { cidr: `10.${Math.floor(index / 250)}.${index % 250}.0/24`, action: 'Deny', description }
        }),
        { cidr: '0.0.0.0/0', action: 'Allow' },
      ],
    })
    await world.apply('IPPolicy', 'office', spec(25, 'one'))
    await world.reason('IPPolicy', 'office', 'Synced', 'AwaitingApproval')
    const { stdout } = await run(world, 'approve', 'ippolicy/office')
    expect(stdout).toMatch(
      /^27\. \+ create ip_policy_rules\n.+\n {5}cidr: "0\.0\.0\.0\/0"\n[^\d]+! the policy admits 0\.0\.0\.0\/0\n1\. /,
    )
    expect(stdout.match(/^\d+\. /gm)).toHaveLength(27)
    expect(stdout).not.toContain('not shown in full')

    await world.apply('IPPolicy', 'large', spec(999, 'x'.repeat(250)))
    await world.reason('IPPolicy', 'large', 'Synced', 'AwaitingApproval')
    const refused = await run(world, 'approve', 'ippolicy/large', '--yes')
    expect(refused.code).toBe(1)
    expect(refused.stdout.slice(0, 500)).toMatch(
      /^! The plan is not shown in full\. Not shown: \d+ requests.*\n1001\. \+ create/,
    )
    expect(await world.remote('ip_policies')).toEqual([])

    // The command that the refusal names.
    const [, plural, flags = ''] =
      /kubectl get (\S+) large -n \S+ -o yaml \| culvert plan -f - --context "\S+ config current-context\)" (.+)/.exec(
        refused.stderr,
      ) ?? []
    expect(plural).toBe('ippolicies.culvert.dev')
    const stdin = JSON.stringify(await world.get('IPPolicy', 'large'))
    const args = ['--kubeconfig', world.kubeconfig, '--operator-namespace', world.operatorNamespace]
    const planned = await culvert(['plan', '-f', '-', ...flags.split(' '), ...args], { ...world, stdin })
    expect(planned.stderr).toBe('')
    const { operations } = JSON.parse(planned.stdout) as { operations: readonly { changes: readonly unknown[] }[] }
    expect(operations).toHaveLength(1001)
  })

  test('approve --plan refuses another plan than the one that was read', async () => {
    await using world = await World.open()
    await world.apply('Backend', 'web', { ...group, description: 'one' })
    await world.reason('Backend', 'web', 'Synced', 'AwaitingApproval')
    const refused = await run(world, 'approve', 'backend/web', '--plan', '12345678-0', '--yes')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('the plan has changed')
    expect(await world.remote('backends/tunnel_group')).toEqual([])
  })

  test('approve says so where nothing has to be approved', { tags: 'nightly' }, async () => {
    await using world = await World.open()
    const { managementPolicy: _policy, ...managed } = group
    await world.apply('Backend', 'web', managed)
    await world.ready('Backend', 'web')
    const refused = await run(world, 'approve', 'backend/web', '--yes')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('its spec has no managementPolicy: Plan')
  })
})
