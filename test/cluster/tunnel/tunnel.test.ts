import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { parse } from 'yaml'
import { runProgram } from '../../../controlplane/run-program.ts'
import type { KubeObject, ResourceType } from '../../../src/kube/types.ts'
import { events } from '../../../src/runtime/events.ts'
import { ask, Upstream } from '../../builders/contract/tcp-peers.ts'
import { AuditLog } from '../support/audit-log.ts'
import { deploymentOf, deployments, keySecretOf, reportAgents, startAgentOf } from '../support/tunnel-agent.ts'
import { until } from '../support/wait.ts'
import { conditionOf, core, type Resource, World } from '../support/world.ts'

const budgets: ResourceType = { ...core('poddisruptionbudgets', 'PodDisruptionBudget'), group: 'policy' }
const secrets = core('secrets', 'Secret')
const accounts = core('serviceaccounts', 'ServiceAccount')

let world: World
beforeAll(async () => {
  const gateway = { sshListen: '127.0.0.1:0', tlsListen: '127.0.0.1:0', log: () => undefined }
  const flags = ['--tunnels', '--agent-image', 'culvert:test']
  world = await World.open({ emulator: { gateway }, flags })
  await world.apply('Backend', 'shop', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } })
  await world.ready('Backend', 'shop')
})
afterAll(() => world[Symbol.asyncDispose]())

interface NetworkPolicy extends KubeObject {
  readonly spec: {
    readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly ingress: readonly { readonly ports: readonly { readonly port: number }[] }[]
  }
}

const SPEC = { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } }

function gatewayOf({ emulator }: World) {
  if (emulator.gateway === undefined) throw new Error('the emulator has no gateway')
  return emulator.gateway.ssh
}

async function setGateway(sshGateway: { address: string; hostKeys: readonly string[] } | undefined): Promise<void> {
  const { baseURL, apiKeySecretRef } = (await world.get('Account', 'default'))?.spec ?? {}
  await world.apply('Account', 'default', {
    baseURL,
    apiKeySecretRef,
    resyncInterval: '10m',
    ...(sshGateway === undefined ? {} : { sshGateway }),
  })
}

async function nameGateway(): Promise<void> {
  const { host, port, hostKey } = gatewayOf(world)
  await setGateway({ address: `${host}:${port}`, hostKeys: [hostKey] })
}

const find = <T extends KubeObject>(type: ResourceType, name: string): Promise<T | undefined> => {
  return world.kube.get<T>(type, { namespace: world.namespace, name })
}

function scalePath(tunnel: string): string {
  return `/apis/culvert.dev/v1alpha1/namespaces/${world.namespace}/tunnels/${tunnel}/scale`
}

async function warningsOf(tunnel: string) {
  const { items } = await world.kube.list<
    KubeObject & { readonly reason: string; readonly regarding?: { readonly name?: string } }
  >(events, { namespace: world.namespace })
  return items.filter(({ reason, regarding }) => reason === 'Contested' && regarding?.name === tunnel)
}

async function connected(tunnel: string, readyReplicas = 2): Promise<Resource> {
  await until(`the Deployment of ${tunnel} is made`, async () => {
    await reportAgents(world, tunnel, readyReplicas)
    return conditionOf(await world.get('Tunnel', tunnel), 'Connected')?.status === 'True'
  })
  return (await world.get('Tunnel', tunnel)) as Resource
}

test('the NetworkPolicy of the examples is valid, and is of the agents and their port', async () => {
  const file = new URL('../../../examples/tunnels/network-policy.yaml', import.meta.url)
  const policy = parse(await readFile(file, 'utf8')) as NetworkPolicy
  const type = { ...core('networkpolicies', 'NetworkPolicy'), group: 'networking.k8s.io' }
  // Unknown fields are refused.
  await world.kube.create(type, { namespace: world.namespace, name: policy.metadata.name }, policy, { dryRun: true })
  await nameGateway()
  await world.apply('Tunnel', 'watched', SPEC)
  const { template } = (await deploymentOf(world, 'watched')).spec
  const { podSelector, ingress } = policy.spec
  expect(template.metadata.labels).toMatchObject(podSelector.matchLabels)
  const ports = template.spec.containers.flatMap((container) => container.ports ?? [])
  expect(ingress.flatMap((rule) => rule.ports.map(({ port }) => port))).toEqual(
    ports.map(({ containerPort }) => containerPort),
  )
})

test('a Tunnel waits until its account names a gateway that the administrator allows', async () => {
  await setGateway({ address: 'gateway.example:22', hostKeys: [gatewayOf(world).hostKey] })
  await world.apply('Tunnel', 'early', SPEC)
  const refused = await world.reason('Tunnel', 'early', 'Ready', 'GatewayNotAllowed')
  expect(refused.message).toContain('Account/default: spec.sshGateway: "gateway.example:22" is not allowed')
  await setGateway(undefined)
  const said = await world.reason('Tunnel', 'early', 'Ready', 'ReferenceNotReady')
  expect(said.message).toBe('Account/default has no SSH gateway: set its spec.sshGateway')
  await nameGateway()
  await deploymentOf(world, 'early')
  await world.delete('Tunnel', 'early')
})

describe('a Tunnel', () => {
  test('has a key, a credential for exactly its labels, and agents without rights, all of them its own', async () => {
    await nameGateway()
    await world.apply('Tunnel', 'whole', SPEC)
    const { metadata, spec } = await deploymentOf(world, 'whole')
    const tunnel = await world.get('Tunnel', 'whole')
    const name = 'whole-tunnel-key-1'
    const credential = await world.ready('SSHCredential', name)
    expect(credential.spec).toMatchObject({ acl: ['bind:app=shop'], accountRef: { kind: 'Account', name: 'default' } })
    const owned = [
      metadata,
      credential.metadata,
      (await find(secrets, name))?.metadata,
      (await find(accounts, 'whole-tunnel'))?.metadata,
      (await find(budgets, 'whole-tunnel'))?.metadata,
    ]
    for (const each of owned) {
      expect(each?.ownerReferences).toMatchObject([{ kind: 'Tunnel', uid: tunnel?.metadata.uid, controller: true }])
    }
    expect(spec.template.spec).toMatchObject({
      serviceAccountName: 'whole-tunnel',
      automountServiceAccountToken: false,
      containers: [{ image: 'culvert:test' }],
    })
    expect(await world.reason('Tunnel', 'whole', 'Connected', 'NotConnected')).toMatchObject({
      status: 'False',
      message: '0 of 2 agents are connected',
    })
    expect((await connected('whole')).status).toMatchObject({ online: 2, wanted: 2 })
    expect(conditionOf(await world.get('Tunnel', 'whole'), 'Ready')?.status).toBe('True')
  })

  test('carries bytes from an edge to its Service, by the agent that its Deployment describes', async () => {
    await nameGateway()
    await world.apply('Tunnel', 'bytes', { ...SPEC, replicas: 1 })
    const upstream = await Upstream.named('service')
    const agent = await startAgentOf(world, 'bytes', upstream.port)
    try {
      const { addr } = (await world.api.post('/reserved_addrs', {})).body as { readonly addr: string }
      const backend = (await world.get('Backend', 'shop'))?.status?.id
      await world.api.post('/edges/tcp', { hostports: [addr], backend: { backend_id: backend } })
      const place = await until('the edge listens', () => {
        return world.emulator.admin.listeners().find(({ hostport }) => hostport === addr)
      })
      expect(await ask(place, 'hello')).toBe('service:hello')
      // Long before the account is read again.
      await reportAgents(world, 'bytes', 1)
      await world.until('Backend', 'shop', 'counts its tunnel', ({ status }) => status?.tunnelCount === 1)
      await agent.kill()
      await reportAgents(world, 'bytes', 0)
      await world.until('Backend', 'shop', 'counts none', ({ status }) => status?.tunnelCount === 0)
    } finally {
      await agent.kill()
      upstream.close()
    }
  })

  test('is kept as it is when others edit or delete what it consists of, and follows its spec', async () => {
    await nameGateway()
    await world.apply('Tunnel', 'kept', SPEC)
    await deploymentOf(world, 'kept')
    const key = { namespace: world.namespace, name: 'kept-tunnel' }
    const container = { name: 'agent', image: 'culvert:test', args: ['agent', '--help'] }
    await world.kube.mergePatch(deployments, key, { spec: { template: { spec: { containers: [container] } } } })
    await until('the arguments are back', async () => {
      return (await deploymentOf(world, 'kept')).spec.template.spec.containers[0]?.args.includes('--drain=30s')
    })
    await world.kube.mergePatch(deployments, key, { metadata: { labels: { 'culvert.dev/tunnel': null } } })
    await until('the label is back', async () => {
      return (await deploymentOf(world, 'kept')).metadata.labels?.['culvert.dev/tunnel'] === 'kept'
    })
    await world.kube.delete(budgets, key)
    await until('the PodDisruptionBudget is back', () => find(budgets, 'kept-tunnel'))
    await world.kube.mergePatch(budgets, key, { spec: { maxUnavailable: 2 } })
    await until('one agent at a time may be evicted', async () => {
      const budget = await find<KubeObject & { readonly spec: { readonly maxUnavailable: number } }>(budgets, key.name)
      return budget?.spec.maxUnavailable === 1
    })
    await world.kube.mergePatch(accounts, key, { automountServiceAccountToken: true })
    await until('Pods get no token', async () => {
      const account = await find<KubeObject & { readonly automountServiceAccountToken: boolean }>(accounts, key.name)
      return account?.automountServiceAccountToken === false
    })
    await world.apply('Tunnel', 'kept', { ...SPEC, replicas: 5 })
    await until('there are five', async () => (await deploymentOf(world, 'kept')).spec.replicas === 5)
    await world.apply('SSHCredential', 'kept-tunnel-key-1', { acl: ['*'] })
    await until('the ACL is back', async () => {
      const acl = (await world.get('SSHCredential', 'kept-tunnel-key-1'))?.spec.acl
      return JSON.stringify(acl) === '["bind:app=shop"]'
    })
  })

  test('is scaled by kubectl, and undoes a client that scales its Deployment a few times only, saying so once', async () => {
    await nameGateway()
    await world.apply('Tunnel', 'scaled', SPEC)
    await connected('scaled')
    const kubectl = async (...args: string[]): Promise<string> => {
      const all = [`--kubeconfig=${world.kubeconfig}`, '-n', world.namespace, ...args]
      const { code, stdout, stderr } = await runProgram(inject('kubectlPath'), all)
      expect(stderr).toBe('')
      expect(code).toBe(0)
      return stdout
    }
    const scale = JSON.parse(await kubectl('get', '--raw', scalePath('scaled')))
    expect(scale).toMatchObject({
      spec: { replicas: 2 },
      status: { replicas: 2, selector: 'culvert.dev/tunnel=scaled' },
    })
    await kubectl('scale', 'tunnel/scaled', '--replicas=4')
    await until('there are four', async () => (await deploymentOf(world, 'scaled')).spec.replicas === 4)
    await connected('scaled', 4)
    const key = { namespace: world.namespace, name: 'scaled-tunnel' }
    const audit = AuditLog.ofSuite()
    const mark = await audit.mark()
    for (let round = 1; round <= 20; round++) {
      await world.kube.mergePatch(deployments, key, { spec: { replicas: 5 + (round % 2) } })
      if (round === 1) await until('four again', async () => (await deploymentOf(world, 'scaled')).spec.replicas === 4)
    }
    const synced = await world.reason('Tunnel', 'scaled', 'Synced', 'Contested')
    expect(synced.message).toContain('have that client scale Tunnel/scaled')
    const writes = await audit.operatorWrites([world.namespace], mark)
    expect(writes.filter(({ resource, name }) => resource === 'deployments' && name === 'scaled-tunnel')).toHaveLength(
      1,
    )
    await until('it is said', async () => (await warningsOf('scaled')).length > 0)
    expect(await warningsOf('scaled')).toHaveLength(1)
    await world.apply('Tunnel', 'scaled', { ...SPEC, replicas: 3 })
    await until('the spec counts', async () => (await deploymentOf(world, 'scaled')).spec.replicas === 3)
  })

  test('has a name of at most 40 characters and no dot', async () => {
    for (const name of ['a'.repeat(41), 'shop.example']) {
      await expect(world.apply('Tunnel', name, SPEC)).rejects.toThrow('metadata.name must have at most 40 characters')
    }
    await world.apply('Tunnel', 'a'.repeat(40), SPEC)
  })

  test('gets a new key on request while the former one stays in use, which is then deleted', {
    timeout: 240_000,
  }, async () => {
    await nameGateway()
    await world.apply('Tunnel', 'rotated', SPEC)
    await connected('rotated')
    await world.annotate('Tunnel', 'rotated', { 'culvert.dev/rotate-requested-at': 'now' })
    await until('agents get the next key', async () => {
      return keySecretOf(await deploymentOf(world, 'rotated')) === 'rotated-tunnel-key-2'
    })
    await world.ready('SSHCredential', 'rotated-tunnel-key-2')
    await world.ready('SSHCredential', 'rotated-tunnel-key-1')
    expect(await find(secrets, 'rotated-tunnel-key-1')).toBeDefined()
    await reportAgents(world, 'rotated', 2)
    await world.until('Tunnel', 'rotated', 'plans to retire the former key', ({ status }) => {
      return (status?.formerKey as { readonly retireAt?: string } | undefined)?.retireAt !== undefined
    })
    await world.gone('SSHCredential', 'rotated-tunnel-key-1', 110_000)
    await until('its Secret is gone', async () => (await find(secrets, 'rotated-tunnel-key-1')) === undefined)
    const tunnel = await world.until(
      'Tunnel',
      'rotated',
      'has one key',
      ({ status }) => status?.formerKey === undefined,
    )
    expect(tunnel.status).toMatchObject({ key: { revision: 2 }, lastHandledRotateAt: 'now' })
  })

  test('gets a new key when the Secret with its key is deleted', async () => {
    await nameGateway()
    await world.apply('Tunnel', 'lost', SPEC)
    await connected('lost')
    await world.kube.delete(secrets, { namespace: world.namespace, name: 'lost-tunnel-key-1' })
    await world.ready('SSHCredential', 'lost-tunnel-key-2')
    await until('agents get the next key', async () => {
      return (
        (await deploymentOf(world, 'lost')).spec.template.spec.volumes[0]?.secret.secretName === 'lost-tunnel-key-2'
      )
    })
  })

  test('leaves an object of another owner alone, and says which', async () => {
    await nameGateway()
    const key = { namespace: world.namespace, name: 'foreign-tunnel' }
    await world.kube.apply(accounts, key, {})
    await world.apply('Tunnel', 'foreign', SPEC)
    const said = await world.reason('Tunnel', 'foreign', 'Synced', 'OutputNotOwned')
    expect(said.message).toContain('ServiceAccount/foreign-tunnel exists and does not belong to this Tunnel')
    expect((await find(accounts, 'foreign-tunnel'))?.metadata.ownerReferences).toBeUndefined()
    expect(await find(deployments, 'foreign-tunnel')).toBeUndefined()
  })

  test('uses an existing credential once it can be used', async () => {
    await nameGateway()
    const credentialRef = { name: 'given', privateKeySecretRef: { name: 'given-key', key: 'id' } }
    await world.apply('Tunnel', 'given', { ...SPEC, credentialRef })
    const said = await world.reason('Tunnel', 'given', 'Synced', 'ReferenceNotReady')
    expect(said.message).toBe('spec.credentialRef: SSHCredential/given does not exist: create it')
    const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGWj5WsELK+Ia2pYS7rEcYT1J3hZz5UlEu40Jb6MKuWp'
    await world.apply('SSHCredential', 'given', { publicKey, acl: ['bind:app=shop'] })
    expect((await deploymentOf(world, 'given')).spec.template.spec.volumes[0]?.secret.secretName).toBe('given-key')
    expect(await find(secrets, 'given-tunnel-key-1')).toBeUndefined()
  })

  test('takes everything with it when it is deleted', async () => {
    await nameGateway()
    await world.apply('Tunnel', 'ended', SPEC)
    await connected('ended')
    const { id } = (await world.ready('SSHCredential', 'ended-tunnel-key-1')).status ?? {}
    await world.delete('Tunnel', 'ended')
    for (const type of [deployments, budgets, accounts]) {
      await until(`its ${type.kind} is gone`, async () => (await find(type, 'ended-tunnel')) === undefined)
    }
    await until('its Secret is gone', async () => (await find(secrets, 'ended-tunnel-key-1')) === undefined)
    await world.gone('SSHCredential', 'ended-tunnel-key-1')
    expect((await world.remote('ssh_credentials')).map((each) => each.id)).not.toContain(id)
  })

  test('writes nothing at rest', async () => {
    await nameGateway()
    await world.apply('Tunnel', 'quiet', SPEC)
    await connected('quiet')
    const audit = AuditLog.ofSuite()
    const mark = await audit.mark()
    // A change that concerns it, and needs nothing.
    await world.kube.mergePatch(
      deployments,
      { namespace: world.namespace, name: 'quiet-tunnel' },
      {
        metadata: { annotations: { note: 'seen' } },
      },
    )
    await world.apply('Tunnel', 'after', SPEC)
    await deploymentOf(world, 'after')
    const entries = (await audit.entries(mark)).filter(({ namespace, userAgent }) => {
      return namespace === world.namespace && userAgent === 'culvert'
    })
    expect(entries.filter(({ name, verb }) => name?.startsWith('quiet') && verb !== 'get')).toEqual([])
  })
})

test('without --tunnels, a Tunnel says who can enable it', async () => {
  await using plain = await World.open()
  await plain.apply('Tunnel', 'shop', SPEC)
  const said = await plain.reason('Tunnel', 'shop', 'Ready', 'TunnelsDisabled')
  expect(said.message).toContain('tunnels.enabled')
})
