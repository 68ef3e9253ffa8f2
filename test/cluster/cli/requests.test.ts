import { describe, expect, inject, test } from 'vitest'
import { culvert } from '../support/culvert.ts'
import { conditionOf, World } from '../support/world.ts'

const group = { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }
const run = (world: World, ...args: readonly string[]) => culvert([...args, '-n', world.namespace], world)

describe('asking for a resource by hand', () => {
  test('reconcile --wait reads the object, corrects it, and ends at rest', async () => {
    await using world = await World.open()
    await world.apply('Backend', 'web', { ...group, description: 'ours' })
    const { status } = await world.ready('Backend', 'web')
    await world.api.patch(`/backends/tunnel_group/${status?.id}`, { description: 'theirs' })
    const { code, stdout, stderr } = await run(world, 'reconcile', 'backend/web', '--wait', '--timeout', '30s')
    expect(code, stderr).toBe(0)
    expect(stdout).toContain(`Backend/web in namespace ${world.namespace}: requested a read`)
    expect(stdout).toMatch(/s {2}Ready True {2}Available: /)
    expect(await world.remote('backends/tunnel_group')).toMatchObject([{ description: 'ours' }])
  })

  test('reconcile --wait lists an account', { tags: 'nightly' }, async () => {
    await using world = await World.open()
    const mark = world.mark()
    const { code, stderr } = await run(world, 'reconcile', 'acct', 'default', '--wait')
    expect(code, stderr).toBe(0)
    expect(world.journal(mark).length).toBeGreaterThan(0)
    expect((await world.get('Account', 'default'))?.status?.lastHandledReconcileAt).toBeDefined()
  })

  test('pause --wait stops Culvert, and resume --wait lets it go on', async () => {
    await using world = await World.open()
    await world.apply('Backend', 'web', group)
    await world.ready('Backend', 'web')
    const paused = await run(world, 'pause', 'backend/web', '--wait')
    expect(paused.code, paused.stderr).toBe(0)
    expect(conditionOf(await world.get('Backend', 'web'), 'Synced')?.reason).toBe('Paused')
    expect((await run(world, 'pause', 'backend/web')).stdout).toContain('is paused already')

    const asked = await run(world, 'reconcile', 'backend/web', '--wait')
    expect(asked.code).toBe(1)
    expect(asked.stderr).toContain(`culvert resume -n ${world.namespace} backend/web`)

    await world.apply('Backend', 'web', { ...group, description: 'edited' })
    const resumed = await run(world, 'resume', 'backend/web', '--wait')
    expect(resumed.code, resumed.stderr).toBe(0)
    expect(await world.remote('backends/tunnel_group')).toMatchObject([{ description: 'edited' }])
    expect((await run(world, 'resume', 'backend/web')).stdout).toContain('is not paused')
  })

  test('rotate --wait puts another token into the Secret', { tags: 'nightly' }, async () => {
    await using world = await World.open()
    await world.apply('APIKey', 'ci', {})
    const before = (await world.ready('APIKey', 'ci')).status?.id
    const { code, stdout, stderr } = await run(world, 'rotate', 'apikey/ci', '--wait', '--timeout', '60s')
    expect(code, `${stdout}${stderr}`).toBe(0)
    const after = await world.get('APIKey', 'ci')
    expect(after?.status?.id).not.toBe(before)
    expect(after?.status?.lastHandledRotateAt).toBeDefined()
  })

  test('--wait ends with 1 at what is stalled, and names the command that explains it', async () => {
    await using world = await World.open()
    await world.apply('Backend', 'one', { type: 'Failover', failover: { backendRefs: [{ name: 'one' }] } })
    await world.reason('Backend', 'one', 'Stalled', 'ReferenceCycle')
    const { code, stdout } = await run(world, 'reconcile', 'backend/one', '--wait', '--timeout', '20s')
    expect(code).toBe(1)
    expect(stdout).toContain('ReferenceCycle')
    expect(stdout).toContain(`culvert why -n ${world.namespace} backend/one`)
  })

  test('--wait ends with 2 once the time is over', { tags: 'nightly' }, async () => {
    await using world = await World.open({ operator: false })
    await world.apply('Backend', 'web', group)
    const { code, stdout } = await run(world, 'reconcile', 'backend/web', '--wait', '--timeout', '1s')
    expect(code).toBe(2)
    expect(stdout).toContain('is not up to date after 1 s')
  })

  test('--wait ends with 1 when the resource is deleted meanwhile', { tags: 'nightly' }, async () => {
    await using world = await World.open({ operator: false })
    await world.apply('Backend', 'web', group)
    const running = run(world, 'reconcile', 'backend/web', '--wait')
    await world.until('Backend', 'web', 'is asked about', ({ metadata }) => {
      return metadata.annotations?.['culvert.dev/reconcile-requested-at'] !== undefined
    })
    await world.delete('Backend', 'web')
    const { code, stderr } = await running
    expect(code).toBe(1)
    expect(stderr).toContain('was deleted')
  })
})

describe('what a person can do wrong', () => {
  const kubeconfig = (): string => inject('kubeconfigPath')

  test.for([
    ['reconcile', 'ingress/shop', /error: there is no kind "ingress"/],
    ['reconcile', 'backend/absent', /error: Backend\/absent in namespace default does not exist/],
    ['rotate', 'backend/absent', /not supported for Backend: only APIKey, TunnelCredential and Tunnel can/],
    ['reconcile', 'tunnelsession/absent', /not supported for TunnelSession/],
  ] as const)('culvert %s %s is refused in one line', async ([verb, argument, message]) => {
    const { code, stdout, stderr } = await culvert([verb, argument, '-n', 'default'], { kubeconfig: kubeconfig() })
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('    at ')
  })

  test('a kubeconfig that is not there is named', async () => {
    const { code, stderr } = await culvert(['pause', 'edge/a', '--kubeconfig', '/nowhere'], {
      kubeconfig: kubeconfig(),
    })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: could not load a kubeconfig from \/nowhere/)
  })
})
