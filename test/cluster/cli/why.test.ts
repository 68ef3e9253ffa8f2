import { describe, expect, test } from 'vitest'
import { runWhy, type WhyFlags } from '../../../src/cli/why-command.ts'
import { KubeProxy } from '../../builders/kube-proxy.ts'
import { type Asked, ask } from '../support/ask.ts'
import { culvert } from '../support/culvert.ts'
import { World } from '../support/world.ts'

const group = { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }

function why(world: World, resource: string, flags: Partial<WhyFlags> = {}): Promise<Asked> {
  const { operatorNamespace } = world
  return ask(world, (cluster) => {
    return runWhy(cluster, [resource], { output: 'text', release: 'culvert', operatorNamespace, ...flags })
  })
}

describe('why', () => {
  test('a resource that works is said to work, and nothing is to be done', async () => {
    await using world = await World.open()
    await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
    await world.ready('IPPolicy', 'office')
    const { lines, text } = await why(world, 'ippolicy/office')
    expect(text).toMatch(/^IPPolicy\/office in namespace \S+ works \(for .*, since .*\): /)
    expect(text).not.toContain('To do')
    expect(lines.every((line) => line.length <= 100)).toBe(true)
  })

  test('a group without tunnels is said to have none, although it works', { tags: 'nightly' }, async () => {
    await using world = await World.open()
    await world.apply('Backend', 'web', group)
    await world.ready('Backend', 'web')
    expect((await why(world, 'backend/web')).text).toContain('TunnelsOnline is false (NoTunnels, read just now)')
  })

  test('--output json says the same to programs', { tags: 'nightly' }, async () => {
    await using world = await World.open()
    await world.apply('Edge', 'shop', { protocol: 'TLS', backend: { name: 'web' } })
    await world.reason('Edge', 'shop', 'Synced', 'ReferenceNotReady')
    const { lines } = await why(world, 'edge/shop', { output: 'json' })
    expect(JSON.parse(lines.join('\n'))).toMatchObject({
      resource: { kind: 'Edge', namespace: world.namespace, name: 'shop' },
      causes: [
        { kind: 'Edge', name: 'shop', exists: true, phase: 'inProgress', reason: 'ReferenceNotReady' },
        { kind: 'Backend', name: 'web', exists: false, field: 'spec.backend' },
      ],
      command: `kubectl get backends.culvert.dev -n ${world.namespace}`,
    })
  })

  test('only the resources on the way and the account are read, by their names, and no list of resources is made', async () => {
    await using world = await World.open()
    await world.apply('Edge', 'shop', { protocol: 'TLS', backend: { name: 'web' } })
    await world.reason('Edge', 'shop', 'Synced', 'ReferenceNotReady')
    await using proxy = await KubeProxy.start(world.kubeconfig)
    const requests: string[] = []
    proxy.intercept(({ method, path }) => {
      requests.push(`${method} ${path.replace(/\?.*/, '')}`)
      return undefined
    })
    const { code, stdout, stderr } = await culvert(['why', 'edge/shop', '-n', world.namespace], {
      kubeconfig: proxy.kubeconfigPath,
    })
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('Backend/web')
    const own = `/apis/culvert.dev/v1alpha1/namespaces/${world.namespace}`
    const read = requests.filter((each) => each.includes('/culvert.dev/') && !each.endsWith('/v1alpha1'))
    const account = ['GET /apis/culvert.dev/v1alpha1/clusteraccounts/default', `GET ${own}/accounts/default`]
    expect(read).toHaveLength(4)
    expect(new Set(read)).toEqual(new Set([...account, `GET ${own}/backends/web`, `GET ${own}/edges/shop`]))
  })

  test('which tunnels are online is read from the API, or dated where the key may not be read', async () => {
    await using world = await World.open()
    await world.apply('Backend', 'web', group)
    await world.apply('Edge', 'shop', { protocol: 'TLS', backend: { name: 'web' } })
    await world.ready('Edge', 'shop')
    const since = world.mark()
    expect((await why(world, 'edge/shop')).text).toContain(
      'TunnelsOnline of Backend/web is false (NoTunnels, read just now)',
    )
    const calls = world.journal(since).filter(({ path }) => path.includes('tunnel_group'))
    expect(calls.map(({ method }) => method)).toEqual(['GET'])

    // The operator does not list the group again for ten minutes.
    const { body } = await world.api.post('/credentials', {})
    world.emulator.admin.connectAgent({ token: String(body.token), tunnels: [{ labels: { app: 'shop' } }] })
    expect((await why(world, 'edge/shop')).text).not.toContain('NoTunnels')

    await using proxy = await KubeProxy.start(world.kubeconfig)
    const message = 'secrets "credentials" is forbidden: User "reader" cannot get resource "secrets"'
    proxy.intercept(({ path }) => {
      return path.includes('/secrets/') ? { type: 'answer', status: 403, reason: 'Forbidden', message } : undefined
    })
    const reader = { kubeconfig: proxy.kubeconfigPath }
    const { code, stdout, stderr } = await culvert(['why', 'edge/shop', '-n', world.namespace], reader)
    expect(code, stderr).toBe(0)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('(NoTunnels, up to 10m old)')
  })
})
