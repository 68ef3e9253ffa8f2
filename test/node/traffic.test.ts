import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../cluster/support/wait.ts'
import { buildImage } from '../image/build-image.ts'
import { KubernetesNode } from './node.ts'
import { API_KEY, Installation } from './support/installation.ts'
import { podsIn } from './support/pods.ts'
import {
  addressOfEdge,
  collectionsNaming,
  exposeShop,
  GATEWAY,
  GATEWAY_ARGUMENTS,
  openShop,
  reachedAt,
  SHOP,
  untilAnswered,
  untilConnected,
  Visitor,
} from './support/shop.ts'

const tell = (message: string): void => console.error(message)

/** Resources opened by `beforeAll`, in order. */
const opened = new AsyncDisposableStack()
let node: KubernetesNode
let url: string

beforeAll(async () => {
  const image = await buildImage({ onProgress: tell })
  node = opened.use(await KubernetesNode.start(tell))
  await node.importImage(image)
  const installation = await Installation.prepare(node, 4, tell)
  await installation.install({
    emulator: { enabled: true, apiKey: API_KEY, extraArgs: GATEWAY_ARGUMENTS },
    tunnels: { enabled: true, gateways: [GATEWAY], services: { enabled: true } },
  })
  await openShop(node)
  url = await addressOfEdge(node)
})

afterAll(() => opened.disposeAsync())

const agentPods = () => podsIn(node, SHOP, 'culvert.dev/tunnel=shop')

test('a request to the edge arrives at a Pod behind a Service, through agents that may do nothing else', async () => {
  await untilAnswered(node, url)
  expect(await agentPods()).toHaveLength(2)
  const subject = `--as=system:serviceaccount:${SHOP}:shop-tunnel`
  const rights = await node.kubectlOutput(['auth', 'can-i', '--list', '-n', SHOP, subject, '--no-headers'])
  expect(rights).not.toMatch(/secrets|pods|\*\.\*/)
})

test('no request is lost when an agent is killed', async () => {
  await using visitor = Visitor.start(node, url)
  const [first] = await agentPods()
  process.kill(await node.cgroups.processOf(first?.containerId ?? ''), 'SIGKILL')
  await until('kubelet has started it again', async () => {
    return (await agentPods()).some(({ name, restarts }) => name === first?.name && restarts === 1)
  })
  await untilConnected(node)
  await expectServed(visitor, 'an agent was killed')
})

test('no request is lost while a new key rolls both agents', async () => {
  await using visitor = Visitor.start(node, url)
  const before = (await agentPods()).map(({ name }) => name)
  await node.kubectlOutput(['-n', SHOP, 'annotate', 'tunnel/shop', 'culvert.dev/rotate-requested-at=now'])
  const areRolled = async () => {
    const now = await agentPods()
    return now.length === 2 && !now.some(({ name }) => before.includes(name))
  }
  await until('both agents are others', areRolled, { timeoutMs: 120_000, describe: agentPods })
  await untilConnected(node)
  await expectServed(visitor, 'the agents were rolled')
})

test('no request is lost while the Pods of the Service are rolled', async () => {
  await using visitor = Visitor.start(node, url)
  await node.kubectlOutput(['-n', SHOP, 'rollout', 'restart', 'deployment/shop'])
  await node.kubectlOutput(['-n', SHOP, 'rollout', 'status', 'deployment/shop', '--timeout=120s'])
  await expectServed(visitor, 'the page was rolled')
})

async function expectServed(visitor: Visitor, meanwhile: string): Promise<void> {
  const answers = await visitor.end()
  console.log(`${answers.length} requests while ${meanwhile}`)
  expect(answers.length).toBeGreaterThan(20)
  expect(answers.filter((status) => status !== '200')).toEqual([])
}

test('a Tunnel that is deleted leaves nothing behind', async () => {
  await node.kubectlOutput(['-n', SHOP, 'delete', 'tunnel/shop', '--timeout=60s'])
  const kinds = 'pods,deployments,serviceaccounts,poddisruptionbudgets,secrets,sshcredentials'
  const left = ['-n', SHOP, 'get', kinds, '-l', 'culvert.dev/tunnel=shop', '-o', 'name']
  const isGone = async () => (await node.kubectlOutput(left)) === ''
  await until('nothing is left', isGone, { timeoutMs: 120_000, describe: () => node.kubectlOutput(left) })
})

test('a Service that kubectl exposes is answered where its status says, and takes everything away with it', async () => {
  await exposeShop(node, 'exposed')
  const { url: at, resolve } = await reachedAt(node, 'exposed')
  await untilAnswered(node, at, resolve)
  expect(await collectionsNaming(node, 'exposed')).toHaveLength(4)
  await node.kubectlOutput(['-n', SHOP, 'delete', 'service/exposed', '--timeout=60s'])
  const find = async (label: string, kinds: string): Promise<string> => {
    return await node.kubectlOutput(['-n', SHOP, 'get', kinds, '-l', label, '-o', 'name'])
  }
  const workload = 'pods,deployments,serviceaccounts,poddisruptionbudgets,secrets,sshcredentials'
  const left = async (): Promise<string> => {
    const parts = await find('culvert.dev/service=exposed', 'reservedaddresses,backends,edges,tunnels')
    return `${parts}${await find('culvert.dev/tunnel=exposed-80', workload)}`
  }
  await until('nothing is left', async () => (await left()) === '', { timeoutMs: 120_000, describe: left })
  expect(await collectionsNaming(node, 'exposed')).toEqual([])
})
