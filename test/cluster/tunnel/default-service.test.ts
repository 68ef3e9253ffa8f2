import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { runProgram } from '../../../controlplane/run-program.ts'
import type { KubeObject } from '../../../src/kube/types.ts'
import { until } from '../support/wait.ts'
import { core, World } from '../support/world.ts'

const services = core('services', 'Service')
const FOREIGN = { ingress: [{ hostname: 'lb.cloud.example.com' }] }

interface Service extends KubeObject {
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly hostname?: string }[] }
    readonly conditions?: readonly { readonly type: string }[]
  }
}

let world: World
beforeAll(async () => {
  const flags = ['--tunnels', '--agent-image', 'culvert:test', '--services', '--services-default']
  world = await World.open({ flags })
})
afterAll(() => world[Symbol.asyncDispose]())

function keyOf(name: string) {
  return { namespace: world.namespace, name }
}

async function service(name: string): Promise<Service | undefined> {
  return await world.kube.get<Service>(services, keyOf(name))
}

async function expose(name: string): Promise<void> {
  const args = ['expose', 'deployment', 'web', `--name=${name}`, '--port=80', '--type=LoadBalancer']
  const all = ['--kubeconfig', world.kubeconfig, '-n', world.namespace, ...args]
  const { code, stderr } = await runProgram(inject('kubectlPath'), all)
  expect(code, stderr).toBe(0)
}

async function hostOf(name: string): Promise<string> {
  return await until(`${name} is reached`, async () => {
    return (await service(name))?.status?.loadBalancer?.ingress?.[0]?.hostname
  })
}

test('kubectl expose is enough, and the type takes everything away again', async () => {
  const metadata = { name: 'web', namespace: world.namespace }
  const labels = { app: 'web' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } }
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: { replicas: 0, selector: { matchLabels: labels }, template },
  }
  await world.kube.create({ ...core('deployments', 'Deployment'), group: 'apps' }, keyOf('web'), deployment)
  await expose('plain')
  const host = await hostOf('plain')
  const { status } = await world.ready('Edge', 'plain-80')
  expect(status?.hostports).toEqual([expect.stringContaining(`${host}:`)])
  await world.kube.mergePatch(services, keyOf('plain'), { spec: { type: 'ClusterIP' } })
  for (const kind of ['Edge', 'Backend', 'ReservedAddress', 'Tunnel']) await world.gone(kind, 'plain-80', 60_000)
  expect((await service('plain'))?.status?.loadBalancer?.ingress).toBeUndefined()
})

test('a Service of another class, or with the address of another controller, is left alone', async () => {
  const spec = { type: 'LoadBalancer', ports: [{ name: 'http', port: 80 }] }
  const make = async (name: string, more: object): Promise<void> => {
    const body = { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: world.namespace } }
    await world.kube.create(services, keyOf(name), { ...body, spec: { ...spec, ...more } })
  }
  await make('other', { loadBalancerClass: 'example.com/other' })
  // Nothing of it may be seen before it has that address.
  await make('cloud', { type: 'ClusterIP' })
  await make('last', {})
  await hostOf('last')
  await world.kube.mergePatch(services, keyOf('cloud'), { metadata: { annotations: { 'culvert.dev/paused': 'true' } } })
  await world.kube.mergePatch(services, keyOf('cloud'), { spec: { type: 'LoadBalancer' } })
  await world.kube.mergePatch(
    services,
    keyOf('cloud'),
    { status: { loadBalancer: FOREIGN } },
    { subresource: 'status' },
  )
  await world.kube.mergePatch(services, keyOf('cloud'), { metadata: { annotations: { 'culvert.dev/paused': null } } })
  await make('later', {})
  await hostOf('later')
  for (const name of ['other', 'cloud']) {
    expect(await world.get('Edge', `${name}-80`)).toBeUndefined()
    expect((await service(name))?.status?.conditions).toBeUndefined()
  }
  expect((await service('cloud'))?.status?.loadBalancer).toEqual(FOREIGN)
})
