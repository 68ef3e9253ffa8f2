import { expect, test } from 'vitest'
import { runTree } from '../../../src/cli/tree-command.ts'
import { runWhy } from '../../../src/cli/why-command.ts'
import type { KubeObject } from '../../../src/kube/types.ts'
import { type Asked, ask } from '../support/ask.ts'
import { until } from '../support/wait.ts'
import { core, type ResourceCondition, World } from '../support/world.ts'

const services = core('services', 'Service')

type Service = KubeObject & { readonly status?: { readonly conditions?: readonly ResourceCondition[] } }

async function serve(world: World, name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
  const key = { namespace: world.namespace, name }
  const ports = [{ name: 'http', port: 80 }]
  const spec = { type: 'LoadBalancer', loadBalancerClass: 'culvert.dev/edge', selector: { app: name }, ports }
  await world.kube.apply(services, key, { metadata: { ...key, annotations }, spec }, { force: true })
  await until(`${name} has a condition`, async () => {
    const { status } = (await world.kube.get<Service>(services, key)) ?? {}
    return status?.conditions?.some(({ type, message }) => type === 'culvert.dev/ready' && message !== '')
  })
}

function why(world: World, name: string): Promise<Asked> {
  const { operatorNamespace } = world
  return ask(world, (cluster) => runWhy(cluster, [name], { output: 'text', release: 'culvert', operatorNamespace }))
}

test('why and tree explain a Service, and name its annotations where they are the cause', async () => {
  const flags = ['--tunnels', '--agent-image', 'culvert:test', '--services']
  await using world = await World.open({ flags })
  await serve(world, 'shop', { 'culvert.dev/ip-policies': 'absent' })
  await world.reason('Edge', 'shop-80', 'Synced', 'ReferenceNotReady')
  const waiting = await why(world, 'svc/shop')
  expect(waiting.text).toMatch(/^Service\/shop in namespace \S+ is waiting/)
  expect(waiting.text).toMatch(/IPPolicy\/absent, which does not exist/)

  await serve(world, 'bad', { 'culvert.dev/domain': 'not a domain' })
  const refused = await why(world, 'service/bad')
  expect(refused.text).toContain('culvert.dev/domain')
  expect(refused.text).toContain('annotations culvert.dev/domain, culvert.dev/ip-policies')
  expect(refused.lines.at(-1)).toMatch(/^ {2}kubectl edit services\/bad -n \S+ --field-manager=culvert-user$/)

  const { lines } = await ask(world, (cluster) =>
    runTree(cluster, ['svc/shop'], { output: 'text', reverse: false, allNamespaces: false }),
  )
  expect(lines.join('\n')).toMatch(/Edge\/shop-80 [\s\S]*IPPolicy\/absent +Missing/)
  await expect(why(world, 'svc/none')).rejects.toMatchObject({ code: 'NotFound' })
})
