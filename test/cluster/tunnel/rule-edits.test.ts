import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, type Place } from '../../builders/contract/tcp-peers.ts'
import { type AddressRule, addressOf, isAdmitted, standingOf } from '../../builders/ip-addresses.ts'
import { type Call, Caller } from '../support/caller.ts'
import { TrafficProcess } from '../support/traffic-process.ts'
import { until } from '../support/wait.ts'
import { World } from '../support/world.ts'

/** Clients by where they connect from: what the rules below match, and what none matches. */
const SOURCES = ['127.0.0.7', '127.0.1.7', '127.9.9.9'] as const
const EVERY_MS = 15
const REQUEST = 'GET / HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n'

const WIDE = '127.0.0.0/16'
const NARROW = '127.0.1.0/24'
const OTHER = '10.0.0.0/8'
const allow = (cidr: string): AddressRule => ({ cidr, action: 'Allow' })
const deny = (cidr: string): AddressRule => ({ cidr, action: 'Deny' })

/** Each is an edit of the one before. */
const specs: readonly (readonly AddressRule[])[] = [
  [deny(NARROW), allow(WIDE)],
  [allow(NARROW)],
  [deny(NARROW), allow(OTHER)],
  [allow(NARROW), deny(OTHER)],
  [deny(NARROW), allow(OTHER)],
  [deny(NARROW), allow(WIDE)],
  [allow(NARROW), deny(WIDE)],
  [allow(OTHER)],
  [deny(OTHER), allow(NARROW)],
  [allow(OTHER), deny(NARROW)],
  [deny(OTHER), allow(WIDE), deny(NARROW)],
  [allow(OTHER), deny(WIDE), allow(NARROW)],
  [allow(WIDE)],
]

let gateway: TrafficProcess
let world: World
const callers = new Map<string, Caller>()

beforeAll(async () => {
  gateway = await TrafficProcess.start({ latency: '150ms', choose: ['without-allow=admitted'] })
  world = await World.open({ setUp: false, flags: ['--allow-api-host', gateway.host] })
  await world.setKey(gateway.apiKey)
  await world.apply('Account', 'default', {
    baseURL: `http://${gateway.host}`,
    apiKeySecretRef: { name: 'credentials' },
    resyncInterval: '10m',
  })
})
afterAll(async () => {
  await Promise.all([...callers.values()].map((caller) => caller.stop()))
  await world[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

const isServed = ({ answer }: Call): boolean => answer.startsWith('HTTP/1.1 200')

/** Whether rules admit a client where the service admits whom no rule matches, if nothing is allowed. */
function admits(rules: readonly AddressRule[], source: string): boolean {
  return isAdmitted([standingOf(rules, addressOf(source))], 'admitted')
}

/** Connections of a client that began and ended between two moments. */
function callsOf(source: string, from: number, to: number): readonly Call[] {
  return (callers.get(source)?.calls ?? []).filter(({ began, ended }) => began > from && ended < to)
}

async function place(hostport: string): Promise<Place> {
  return await until('the edge can be reached', () => gateway.listener(hostport))
}

test('nobody whom the rules before and after an edit refuse is served meanwhile, though the service admits everybody where nothing is allowed', async () => {
  const [first = [], ...edits] = specs
  await world.apply('Backend', 'shop', { type: 'HTTPResponse', httpResponse: { body: 'served', statusCode: 200 } })
  await world.apply('IPPolicy', 'office', { rules: first })
  await world.apply('ReservedAddress', 'door', {})
  const hostport = String((await world.ready('ReservedAddress', 'door')).status?.addr)
  await world.apply('Edge', 'shop', {
    protocol: 'TCP',
    hostports: [{ type: 'ReservedAddress', reservedAddressRef: { name: 'door' } }],
    backend: { name: 'shop' },
    ipRestriction: { ipPolicyRefs: [{ name: 'office' }] },
  })
  await world.ready('Edge', 'shop')
  const door = await place(hostport)
  for (const source of SOURCES) callers.set(source, new Caller(EVERY_MS, () => ask(door, REQUEST, source)))

  const intruders: object[] = []
  let former = first
  for (const rules of edits) {
    const began = performance.now()
    await world.apply('IPPolicy', 'office', { rules })
    await world.ready('IPPolicy', 'office')
    const since = performance.now()
    // The edit is in force: clients are served as the new rules say.
    for (const source of SOURCES) {
      const isSeen = (): boolean => {
        const calls = callsOf(source, since, performance.now())
        return calls.length > 0 && calls.every((call) => isServed(call) === admits(rules, source))
      }
      await until(`${source} meets the new rules`, () => (isSeen() ? true : undefined))
    }
    const ended = performance.now()
    for (const source of SOURCES.filter((each) => !admits(former, each) && !admits(rules, each))) {
      const served = callsOf(source, began, ended).filter(isServed)
      if (served.length > 0) intruders.push({ source, times: served.length, former, rules })
    }
    former = rules
  }
  expect(intruders).toEqual([])
  for (const source of SOURCES) expect(callsOf(source, 0, performance.now()).length).toBeGreaterThan(edits.length)
})
