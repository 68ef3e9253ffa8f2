import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newClientAuthority } from '../../builders/contract/client-certificates.ts'
import type { CulvertAgent } from '../../builders/contract/culvert-agent.ts'
import { ask, askTLS, type Place, Upstream } from '../../builders/contract/tcp-peers.ts'
import { type Call, Caller } from '../support/caller.ts'
import { TrafficProcess } from '../support/traffic-process.ts'
import { deploymentOf, keySecretOf, startAgentOf } from '../support/tunnel-agent.ts'
import { until } from '../support/wait.ts'
import { World } from '../support/world.ts'

/** Sources of connections: always allowed, never allowed, and allowed for a while. */
const [INSIDE, OUTSIDE, VISITOR] = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
const SERVED = 'service:hello'
/** How often each client of the TCP edge connects. */
const EVERY_MS = 20
/** The same of the TLS edge: a handshake takes milliseconds of a core. */
const TLS_EVERY_MS = 100
/** Connections of each client of the TCP edge, at least. A quick machine makes all changes before there are as many. */
const LEAST_CALLS = 1000
/** Longer than a change takes to reach the API: a kill falls before, into or after it. */
const KILL_WITHIN_MS = 500
const DOMAIN = 'uninterrupted.tunnel.example'

let gateway: TrafficProcess
let world: World
let upstream: Upstream
const callers: Caller[] = []
/** What is done, and since when. */
const phases: { readonly name: string; readonly from: number }[] = []
const agents: CulvertAgent[] = []

beforeAll(async () => {
  gateway = await TrafficProcess.start()
  const allowed = ['--allow-api-host', gateway.host, '--allow-ssh-gateway', gateway.sshAddress]
  const flags = [...allowed, '--tunnels', '--agent-image', 'culvert:test']
  world = await World.open({ setUp: false, flags })
  upstream = await Upstream.named('service')
  await world.setKey(gateway.apiKey)
  await world.apply('Account', 'default', {
    baseURL: `http://${gateway.host}`,
    apiKeySecretRef: { name: 'credentials' },
    resyncInterval: '10m',
    sshGateway: { address: gateway.sshAddress, hostKeys: [gateway.hostKey] },
  })
})
afterAll(async () => {
  await Promise.all(callers.map((caller) => caller.stop()))
  await Promise.all(agents.map((agent) => agent.kill()))
  upstream.close()
  await world[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

/** Connects to a hostport again and again, as soon as it can be reached for the first time. */
function call(hostport: string, everyMs: number, connect: (place: Place) => Promise<string>): Caller {
  let place: Promise<Place | undefined> | undefined
  const caller = new Caller(everyMs, async () => {
    place ??= gateway.listener(hostport)
    const found = await place
    if (found === undefined) place = undefined
    return found === undefined ? 'nothing listens yet' : await connect(found)
  })
  callers.push(caller)
  return caller
}

/** Makes a change while the operator is killed at some moment of it, and starts the operator again. */
async function amid<T>(change: Promise<T>): Promise<T> {
  await sleep(KILL_WITHIN_MS * Math.random())
  await world.operator.kill()
  await world.startOperator()
  return await change
}

/** Applies a spec in this way, and waits until the resource is Ready again. */
async function applyAmid(kind: string, name: string, spec: Record<string, unknown>): Promise<void> {
  await amid(world.apply(kind, name, spec))
  await world.ready(kind, name, 60_000)
}

async function agentOf(tunnel: string): Promise<CulvertAgent> {
  const agent = await startAgentOf(world, tunnel, upstream.port)
  agents.push(agent)
  return agent
}

const isServed = ({ answer }: Call): boolean => answer === SERVED
/** The gateway took the connection, and closed it. */
const isClosed = ({ answer }: Call): boolean => ['', 'ECONNRESET'].includes(answer)
const answersOf = (calls: readonly Call[]): readonly string[] => [...new Set(calls.map(({ answer }) => answer))]
const from = (allow: readonly string[]): readonly object[] => allow.map((cidr) => ({ cidr, action: 'Allow' }))

function phase(name: string): number {
  const from = performance.now()
  phases.push({ name, from })
  return from
}

/** A connection, with what was done when it began. */
const told = (call: Call): object => ({ ...call, amid: phases.findLast(({ from }) => from <= call.began)?.name })

/** Resolves once the caller is served by a connection that begins from now on. */
async function servedAgain(caller: Caller): Promise<number> {
  const now = performance.now()
  const find = (): Call | undefined => caller.calls.find((each) => each.began > now && isServed(each))
  const describe = (): readonly string[] => answersOf(caller.calls.filter(({ began }) => began > now))
  const served = await until('a client is served again', find, { describe })
  return served.ended
}

test('whatever changes or is killed, nobody is served who is refused, and nobody refused who is allowed', {
  tags: 'nightly',
  timeout: 300_000,
}, async () => {
  const root = await gateway.rootPem()
  const [first, second, foreign] = await Promise.all(['first', 'second', 'foreign'].map(newClientAuthority))
  if (first === undefined || second === undefined || foreign === undefined) throw new Error('no authorities')
  await world.apply('Backend', 'shop', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } })
  await world.apply('IPPolicy', 'office', { rules: from([INSIDE]) })
  await world.apply('IPPolicy', 'home', { rules: from([INSIDE]) })
  await world.apply('CertificateAuthority', 'staff', { caPEM: first.caPem })
  await world.apply('ReservedAddress', 'door', {})
  await world.apply('ReservedDomain', 'door', { domain: DOMAIN, certificate: { type: 'Managed' } })
  await world.apply('Tunnel', 'shop', { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } })
  const address = await world.ready('ReservedAddress', 'door')
  await world.ready('ReservedDomain', 'door')
  let one = await agentOf('shop')
  let two = await agentOf('shop')

  const tcp = String(address.status?.addr)
  const [inside, outside, visitor] = [INSIDE, OUTSIDE, VISITOR].map((source) => {
    return call(tcp, EVERY_MS, (place) => ask(place, 'hello', source))
  }) as [Caller, Caller, Caller]
  const [staff, successor, stranger, nobody] = [first.client, second.client, foreign.client, undefined].map(
    (client) => {
      return call(`${DOMAIN}:443`, TLS_EVERY_MS, (place) =>
        askTLS(place, 'hello', { servername: DOMAIN, ca: root, ...client }),
      )
    },
  ) as [Caller, Caller, Caller, Caller]

  const door = { protocol: 'TCP', hostports: [{ type: 'ReservedAddress', reservedAddressRef: { name: 'door' } }] }
  const shop = { ...door, backend: { name: 'shop' }, ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } }
  await applyAmid('Edge', 'door', shop)
  await applyAmid('Edge', 'page', {
    protocol: 'TLS',
    hostports: [{ type: 'ReservedDomain', reservedDomainRef: { name: 'door' }, port: 443 }],
    backend: { name: 'shop' },
    ipRestriction: { ipPolicyRefs: [{ name: 'home' }] },
    mutualTLS: { certificateAuthorityRefs: [{ name: 'staff' }] },
  })
  const open = Math.max(await servedAgain(inside), await servedAgain(staff))

  // Policies and modules.
  phase('another range is let in')
  await applyAmid('IPPolicy', 'office', { rules: [{ cidr: OUTSIDE, action: 'Deny' }, ...from(['127.0.0.0/8'])] })
  await servedAgain(visitor)
  await applyAmid('IPPolicy', 'office', { rules: from([INSIDE]) })
  const shut = phase('modules change')
  await applyAmid('Edge', 'door', { ...shop, trafficPolicy: denies(OUTSIDE) })
  await applyAmid('Edge', 'door', { ...shop, ipRestriction: { ipPolicyRefs: [{ name: 'home' }] } })
  await applyAmid('Edge', 'door', shop)

  // The authority is replaced: both are trusted, then only the second.
  const early = phase('both authorities are trusted')
  await applyAmid('CertificateAuthority', 'staff', { caPEM: `${first.caPem}${second.caPem}` })
  await world.ready('Edge', 'page')
  await servedAgain(successor)
  const both = phase('the second authority is trusted')
  await applyAmid('CertificateAuthority', 'staff', { caPEM: second.caPem })
  await until('the former authority is not trusted', () => {
    return staff.calls.find((each) => each.began > both && !isServed(each))
  })

  // Agents are killed in turn, and then rolled to another key.
  const killed: number[] = []
  for (let round = 0; round < 3; round += 1) {
    killed.push(phase('an agent is killed'))
    await one.kill()
    await servedAgain(inside)
    one = two
    two = await agentOf('shop')
  }
  phase('the key is rotated')
  await amid(world.annotate('Tunnel', 'shop', { 'culvert.dev/rotate-requested-at': 'now' }))
  await until('agents get the next key', async () => keySecretOf(await deploymentOf(world, 'shop')).endsWith('-2'))
  for (const former of [one, two]) {
    await agentOf('shop')
    phase('an agent ends')
    former.signal('SIGTERM')
    expect(await former.exited()).toBe(0)
  }

  // The gateway is killed: nobody can be served until it and its agents are back.
  const downs: { readonly from: number; readonly until: number }[] = []
  for (let round = 0; round < 2; round += 1) {
    const down = phase('the gateway is killed')
    await gateway.kill()
    await gateway.startAgain()
    downs.push({ from: down, until: Math.max(await servedAgain(inside), await servedAgain(successor)) })
  }
  await until('each client has connected often enough', () => {
    return inside.calls.length > LEAST_CALLS && outside.calls.filter(isClosed).length > LEAST_CALLS
  })
  await Promise.all(callers.map((caller) => caller.stop()))

  // What flows through a process that is killed ends with it.
  const isExcused = ({ began, ended }: Call): boolean => {
    return (
      downs.some((down) => ended >= down.from && began <= down.until) || killed.some((at) => began <= at && ended >= at)
    )
  }
  const refusedAmong = (calls: readonly Call[]): readonly object[] => {
    return calls.filter((each) => each.began > open && !isServed(each) && !isExcused(each)).map(told)
  }
  expect({
    outside: outside.calls.filter(isServed),
    stranger: stranger.calls.filter(isServed),
    nobody: nobody.calls.filter(isServed),
    visitor: visitor.calls.filter((each) => each.began > shut && isServed(each)),
    successor: successor.calls.filter((each) => each.ended < early && isServed(each)),
    inside: refusedAmong(inside.calls),
    staff: refusedAmong(staff.calls.filter(({ ended }) => ended < both)),
    'successor, once trusted': refusedAmong(successor.calls.filter(({ began }) => began > both)),
  }).toEqual({
    ...{ outside: [], stranger: [], nobody: [], visitor: [], successor: [] },
    ...{ inside: [], staff: [], 'successor, once trusted': [] },
  })
  expect(inside.calls.length).toBeGreaterThan(LEAST_CALLS)
  expect(outside.calls.filter(isClosed).length).toBeGreaterThan(LEAST_CALLS)
})

/** A traffic policy that lets all but one source in. */
function denies(source: string): object {
  const outside = { name: 'outside', expressions: [`conn.client_ip == '${source}'`], actions: [{ type: 'deny' }] }
  return { inbound: [outside] }
}
