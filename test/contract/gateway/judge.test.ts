import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import { type AccountView, readWorld } from '../../../src/cli/check/account-world.ts'
import { DECIDED } from '../../../src/emulator/choices/choices.ts'
import { judge, verdictOf } from '../../../src/judging/judge.ts'
import { type Choices, READINGS, STEP_KINDS, type Step } from '../../../src/judging/world.ts'
import { type Attempt, carryOut, Draw, inParallel, Pool } from '../../builders/contract/random-traffic.ts'
import { Upstream } from '../../builders/contract/tcp-peers.ts'
import { type Connection, startTrafficWorld, type TrafficWorld } from '../../builders/contract/traffic-world.ts'
import { type AddressRule, addressOf, standingOf, standings } from '../../builders/ip-addresses.ts'

/** For programs to start, on a busy machine. */
const START_MS = 60_000
const SOON = { timeout: 30_000, interval: 10 }
/** A busy machine is no reason for the gateway to give up. */
const PATIENT = { headerMs: START_MS, tlsMs: START_MS, openMs: START_MS }
const PROXY = '127.0.0.9'
/** Connections between two changes, and how many of them are open at one time. */
const ROUND = 50
const AT_ONCE = 10

let world: TrafficWorld
let upstream: Upstream
let pool: Pool
const choices = { ...DECIDED }
beforeAll(async () => {
  world = await startTrafficWorld(PATIENT, { proxies: [`${PROXY}/32`], choices })
  upstream = await Upstream.start((socket) => socket.once('data', () => socket.end('upstream')))
  pool = await Pool.create(world, upstream.port)
}, START_MS)
afterAll(async () => {
  upstream.close()
  await world.close()
})

const TITLE = 'the gateway and `judge` decide alike, by rules that match, on $connections random connections'
test.each([{ connections: 1000, least: 30 }])(TITLE, compare)
test.each([{ connections: 10_000, least: 300 }])(TITLE, { tags: 'nightly', timeout: 1_800_000 }, compare)

/** Over random set-ups, under each reading of the contract. Each kind of step decides at least `least` times. */
async function compare({
  connections,
  least,
}: {
  readonly connections: number
  readonly least: number
}): Promise<void> {
  const counts = new Map<string, number>()
  for (let round = 0; round * ROUND < connections; round += 1) {
    const reading = readingOf(round)
    Object.assign(choices, reading)
    const draw = new Draw(round)
    await pool.change(draw)
    const view = await viewOf(world)
    const attempts = Array.from({ length: ROUND }, (_, index) => pool.attempt(draw, round * ROUND + index))
    await world.clearConnections()
    await inParallel(attempts, AT_ONCE, (attempt) => carryOut(attempt, PROXY))
    const journal = await journalOf(attempts.length)
    for (const attempt of attempts) {
      const decided = await compareOne(view, { attempt, reading, line: journal.get(attempt.sourcePort) })
      counts.set(decided, (counts.get(decided) ?? 0) + 1)
    }
  }
  for (const kind of [...STEP_KINDS, 'admitted'])
    expect.soft(counts.get(kind) ?? 0, `decided by ${kind}`).toBeGreaterThanOrEqual(least)
}

/** Every reading in turn, each with every other of the other points sooner or later. */
function readingOf(round: number): Choices {
  let rest = round
  const chosen = Object.entries(READINGS).map(([name, values]) => {
    const value = values[rest % values.length]
    rest = Math.floor(rest / values.length)
    return [name, value]
  })
  return Object.fromEntries(chosen) as Choices
}

interface Compared {
  readonly attempt: Attempt
  readonly reading: Choices
  readonly line: Connection | undefined
}

/** What decided about the connection: a kind of step, or `admitted`. */
async function compareOne(view: ListedView, { attempt, reading, line }: Compared): Promise<string> {
  const { host, port, source, sourcePort, version, client } = attempt
  const found = await readWorld(view, { host, port })
  const steps = judge(found, { source, sourcePort, version, certificate: client?.cert, at: Date.now() }, reading)
  const shown = JSON.stringify(
    { reading, attempt: { ...attempt, client: client !== undefined }, steps, line },
    undefined,
    1,
  )
  if (line === undefined) throw new Error(`the journal lacks ${shown}`)
  const verdict = verdictOf(steps)
  const isServed = line.verdict === 'served'
  if (verdict === 'unknown') {
    // A weighted backend draws, and falls back on no other child.
    expect(
      steps.filter(({ outcome }) => outcome === 'unknown').map(({ kind }) => kind),
      shown,
    ).toEqual(['backend'])
    expect(['served', 'unserved'], shown).toContain(line.verdict)
    return 'a draw'
  }
  expect(verdict, shown).toBe(isServed ? 'admitted' : 'refused')
  const decided = steps.find(({ outcome }) => outcome === 'refuses')?.kind ?? 'admitted'
  expect(decided, shown).toBe(isServed ? 'admitted' : refusingStep(line))
  for (const step of steps) expectRule(view, { step, line, attempt, shown })
  return decided
}

/** The kind of step that the gateway names in its journal. */
function refusingStep({ verdict, hostport, reason }: Connection): string {
  if (hostport === null) return 'edge'
  if (verdict === 'unserved') return 'backend'
  const [kind] = REASONS.find(([, form]) => form.test(reason)) ?? ['client-certificate']
  return kind
}

const REASONS = [
  ['restrictions', /^the IP restriction .* of the account does not admit it/],
  ['ip-policies', /^(no|a) rule of the edge (admits|denies) it/],
  ['traffic-policy', /^the policy rule .* denies it/],
  ['certificate', /^the domain has no certificate/],
  ['version', /^the handshake failed: .*unsupported protocol/],
] as const

/** A rule that a step names is one of those that match, with the action that decides; so is the one of the journal. */
function expectRule(
  view: ListedView,
  {
    step,
    line,
    attempt,
    shown,
  }: { readonly step: Step; readonly line: Connection; readonly attempt: Attempt; readonly shown: string },
): void {
  const { kind, outcome, rule } = step
  if (outcome === 'not-reached' || rule === undefined) return
  if (kind === 'restrictions') expect(line.reason, shown).toContain(rule)
  if (kind === 'traffic-policy') expect(line.reason, shown).toContain(rule)
  if (kind !== 'ip-policies') return
  const decisive = outcome === 'refuses' ? standings.denied : standings.allowed
  const decidedByEdge = outcome === 'refuses' || line.verdict === 'served'
  for (const named of decidedByEdge ? [rule, line.rule ?? 'none'] : [rule]) {
    const found = view.rule(named)
    expect(found && standingOf([found], addressOf(attempt.source)), `${named} ${shown}`).toBe(decisive)
  }
}

/** The journal of all connections since it was cleared, once each is decided. */
async function journalOf(count: number): Promise<ReadonlyMap<number, Connection>> {
  const isDecided = async (): Promise<boolean> => {
    const lines = await world.connections()
    return lines.length >= count && lines.every(({ end }) => end !== null)
  }
  await expect.poll(isDecided, SOON).toBe(true)
  return new Map((await world.connections()).map((line) => [line.sourcePort, line]))
}

interface ListedView extends AccountView {
  rule(id: string): AddressRule | undefined
}

/** The account as its API shows it; each collection is listed once. */
async function viewOf({ api }: TrafficWorld): Promise<ListedView> {
  const lists = new Map<string, Promise<ReadonlyMap<string, RemoteObject>>>()
  const list = ({
    path,
    listKey,
  }: Parameters<AccountView['objects']>[0]): Promise<ReadonlyMap<string, RemoteObject>> => {
    const known =
      lists.get(path) ?? api.all(`/${path}`, listKey).then((all) => new Map(all.map((each) => [each.id, each])))
    lists.set(path, known)
    return known
  }
  const rules = await list({ path: 'ip_policy_rules', listKey: 'ip_policy_rules' })
  return {
    objects: async (collection) => ({ objects: await list(collection) }),
    sourceOf: ({ id }) => ({ name: id }),
    undecided: () => undefined,
    furtherRules: () => undefined,
    sessionsOf: () => Promise.resolve([]),
    rule: (id) => rules.get(id) as AddressRule | undefined,
  }
}
