import { expect, test } from 'vitest'
import type { KubeObject } from '../../../src/kube/types.ts'
import { type CustomResource, statusOf } from '../../../src/managed/cr.ts'
import { CREATE_ATTEMPT, PAUSED } from '../../../src/managed/names.ts'
import { events } from '../../../src/runtime/events.ts'
import type { Fault, Sighting } from '../simulation/faults.ts'
import { Oracle } from '../simulation/oracle.ts'
import { Laboratory, NAMESPACE, type SimulatedWorld } from '../simulation/world.ts'
import { CaseList } from '../support/case-list.ts'
import { leastOf } from '../support/size.ts'

const COUNT = 60
const CONFLICT = '{"kind":"Status","reason":"Conflict","code":409,"message":"the object has been modified"}'
const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }
const edgeTo = (name: string) => ({ protocol: 'TLS', backend: { name } })

test.each([1, 4])(
  'resources that wait for minutes, with a budget of %i requests a minute, report it once and are then created',
  async (requestsPerMinute) => {
    const laboratory = await Laboratory.open()
    const rateLimit = { requestsPerMinute, burst: 1 }
    const world = laboratory.world({ kinds: new Set(['Backend']), accountSpec: { rateLimit } })
    try {
      const oracle = await Oracle.watch(world)
      makeMany(world)
      await world.advance(25_000)
      expect(oracle.writes.filter(isStatusOf('backend-59'))).toEqual([])
      // Half a minute in the queue, and as long again if the reconcile began just before.
      await world.advance(36_000)
      const waiting = backends(world).filter((cr) => statusOf(cr).id === undefined)
      expect(waiting.length).toBeGreaterThan(COUNT - 10)
      expect(waiting.map(told)).toEqual(waiting.map(() => ['False', 'Progressing', true]))
      // Nothing has been reconciled yet.
      expect(waiting.filter((cr) => (statusOf(cr).observedGeneration ?? -1) !== -1)).toEqual([])
      await world.advance(60_000)
      const stillWaiting = backends(world).filter((cr) => statusOf(cr).id === undefined)
      const writes = stillWaiting.map((cr) => oracle.writes.filter(isStatusOf(cr.metadata.name)).length)
      expect(writes).toEqual(stillWaiting.map(() => 1))
      world.editAccount({ rateLimit: null })
      expect(await oracle.untilRest()).toEqual([])
      expect(oracle.idle).toEqual([])
    } finally {
      world.down()
    }
  },
)

test('resources that wait behind others without a budget report it and name no budget', async () => {
  const laboratory = await Laboratory.open()
  const world = laboratory.world({ kinds: new Set(['Backend']) })
  try {
    const oracle = await Oracle.watch(world)
    world.trouble = { request: ({ method, server }) => (method === 'POST' && server === 'api' ? SLOWLY : undefined) }
    makeMany(world)
    await world.advance(40_000)
    const waiting = backends(world).filter((cr) => cr.metadata.annotations?.[CREATE_ATTEMPT] === undefined)
    expect(waiting.length).toBeGreaterThan(20)
    expect(waiting.map(told)).toEqual(waiting.map(() => ['False', 'Progressing', false]))
    expect(await oracle.untilRest()).toEqual([])
    expect(oracle.idle).toEqual([])
  } finally {
    world.down()
  }
})

const SLOWLY: Fault = { type: 'slow', when: 'after', ms: 3_900 }

test('a new Edge that waits for a new Backend makes two writes and one Event, as if it had come later', async () => {
  const laboratory = await Laboratory.open()
  const world = laboratory.world({ kinds: new Set(['Backend', 'Edge']) })
  try {
    const oracle = await Oracle.watch(world)
    world.apply('Edge', 'shop', edgeTo('backend-0'))
    world.apply('Backend', 'backend-0', tunnels)
    expect(await oracle.untilRest()).toEqual([])
    const written = oracle.writes.filter(({ path }) => path.includes('/edges/shop')).map(({ path }) => path)
    expect(written).toEqual([expect.stringMatching(/shop$/), expect.stringMatching(/shop\/status$/)])
    await world.advance(1_000)
    const told = world.kube.list<KubeObject & { readonly regarding?: { readonly kind: string } }>(events).items
    expect(told.filter(({ regarding }) => regarding?.kind === 'Edge')).toHaveLength(1)
  } finally {
    world.down()
  }
})

test('a new Edge reports that it waits for a new Backend once it has waited for half a minute', async () => {
  const laboratory = await Laboratory.open()
  const world = laboratory.world({ kinds: new Set(['Backend', 'Edge']) })
  try {
    const oracle = await Oracle.watch(world)
    // The Backend cannot be created, nor can its status say so.
    world.trouble = {
      request: ({ method, path }) => (method === 'PATCH' && path.includes('/backends/') ? UNAVAILABLE : undefined),
    }
    world.apply('Edge', 'shop', edgeTo('backend-0'))
    world.apply('Backend', 'backend-0', tunnels)
    await world.advance(25_000)
    expect(told(world.get('Edge', 'shop'))).toBeUndefined()
    await world.advance(36_000)
    expect(told(world.get('Backend', 'backend-0'))).toBeUndefined()
    expect(told(world.get('Edge', 'shop'))).toEqual(['False', 'ReferenceNotReady', false])
    expect(oracle.writes.filter(({ path }) => path.includes('/edges/shop'))).toHaveLength(1)
    world.calm()
    expect(await oracle.untilRest()).toEqual([])
    expect(oracle.idle).toEqual([])
  } finally {
    world.down()
  }
})

const UNAVAILABLE: Fault = { type: 'answer', when: 'before', answer: { status: 503, headers: {}, body: '' } }

test('no wait is reported for a resource that is paused, deleted or already reconciled', async () => {
  const laboratory = await Laboratory.open()
  const world = laboratory.world({ kinds: new Set(['Backend']) })
  try {
    const oracle = await Oracle.watch(world)
    world.apply('Backend', 'at-work', tunnels)
    expect(await oracle.untilRest()).toEqual([])
    world.editAccount({ rateLimit: { requestsPerMinute: 1, burst: 1 } })
    // What was sent in the last minute counts against the new limit, too: the account is checked after that.
    await world.advance(150_000)
    const before = oracle.writes.filter(isStatusOf('at-work')).length
    makeMany(world)
    await world.advance(5_000)
    world.apply('Backend', 'at-work', { ...tunnels, description: 'edited' })
    world.annotate('Backend', 'backend-58', { [PAUSED]: 'true' })
    world.delete('Backend', 'backend-59')
    await world.advance(50_000)
    const unmade = backends(world).filter((cr) => statusOf(cr).id === undefined && !isPaused(cr))
    expect(unmade.map(told)).toEqual(unmade.map(() => ['False', 'Progressing', true]))
    expect(told(world.get('Backend', 'at-work'))?.[0]).toBe('True')
    expect(oracle.writes.filter(isStatusOf('at-work')).length - before).toBeLessThanOrEqual(1)
    expect(told(world.get('Backend', 'backend-58'))).toBeUndefined()
    expect(oracle.writes.filter(isStatusOf('backend-59'))).toEqual([])
  } finally {
    world.down()
  }
})

test('accounts that wait for others, and resources that wait for such an account, report it', async () => {
  const laboratory = await Laboratory.open()
  const world = laboratory.world({ kinds: new Set(['Backend']) })
  try {
    // Reading an account then takes ten seconds, and four are read concurrently.
    world.trouble = { request: ({ server }) => (server === 'api' ? { type: 'silence', when: 'before' } : undefined) }
    const names = Array.from({ length: 30 }, (_, index) => `account-${index}`)
    for (const name of names) {
      world.server.create(world.accountType, { namespace: NAMESPACE, name }, { spec: world.account?.spec })
      world.apply('Backend', `backend-of-${name}`, { ...tunnels, accountRef: { kind: 'Account', name } })
    }
    await world.advance(65_000)
    const accounts = names.map((name) => world.kube.get(world.accountType, { namespace: NAMESPACE, name }))
    expect(accounts.map((account) => told(account as CustomResource)?.[0])).toEqual(names.map(() => 'False'))
    const messages = accounts.flatMap((account) => (account as CustomResource).status?.conditions ?? [])
    expect(messages.some(({ message }) => message === 'waits until other accounts have been reconciled')).toBe(true)
    expect(backends(world).map((cr) => told(cr)?.[0])).toEqual(names.map(() => 'False'))
  } finally {
    world.down()
  }
})

const faults: readonly Fault[] = [
  ...(['before', 'after', 'answered'] as const).map((when): Fault => ({ type: 'kill', when })),
  ...(['before', 'after'] as const).flatMap((when): Fault[] => [
    { type: 'reset', when },
    { type: 'silence', when },
    { type: 'slow', when, ms: 3_000 },
  ]),
  { type: 'late', ms: 3_000 },
  { type: 'twice' },
  { type: 'answer', when: 'before', answer: { status: 409, headers: {}, body: CONFLICT } },
  { type: 'answer', when: 'before', answer: { status: 404, headers: {}, body: '' } },
]

test('faults while waits are reported do not change what is created', { tags: 'nightly' }, async () => {
  const laboratory = await Laboratory.open()
  const list = new CaseList('long waits', 'simulation', { least: leastOf(faults.length) })
  for (const fault of faults) {
    list.add({ write: 'PATCH status', point: 'waiting', fault: JSON.stringify(fault) }, await play(laboratory, fault))
  }
  await list.end()
})

/** With one request every half minute, the first resources are reconciled just when their wait is reported. */
async function play(laboratory: Laboratory, fault: Fault): Promise<readonly string[]> {
  const rateLimit = { requestsPerMinute: 2, burst: 1 }
  const world = laboratory.world({ kinds: new Set(['Backend']), accountSpec: { rateLimit } })
  try {
    const oracle = await Oracle.watch(world)
    const conflicts = countConflicts(world)
    let befallen = 0
    world.trouble = {
      request: (sighting) => {
        // The answer to a create arrives while the wait is being reported.
        if (sighting.method === 'POST' && sighting.server === 'api') return { type: 'slow', when: 'after', ms: 2_000 }
        const isTold = isStatus(sighting) && !('id' in JSON.parse(sighting.body).status)
        if (!isTold || (fault.type === 'kill' && befallen > 0)) return undefined
        befallen++
        return fault
      },
    }
    makeMany(world)
    await world.advance(100_000)
    world.calm()
    world.editAccount({ rateLimit: null })
    world.apply('Backend', 'backend-0', { ...tunnels, description: 'edited' })
    const problems = [...(await oracle.untilRest()), ...(await oracle.unlikeDeclared()), ...oracle.violations]
    if (befallen === 0) problems.push('nothing befell anything')
    // The end of a reconcile waits until the report is written.
    if (fault.type === 'slow' && conflicts() > 0) problems.push('two writes of one resource met')
    return problems
  } finally {
    world.down()
  }
}

/** Counts the conflicts that Kubernetes reports from now on. */
function countConflicts({ network }: SimulatedWorld): () => number {
  const { onDone } = network
  let count = 0
  network.onDone = (sighting, answer) => {
    if (sighting.server === 'kubernetes' && answer.status === 409) count++
    return onDone(sighting, answer)
  }
  return () => count
}

function makeMany(world: SimulatedWorld): void {
  for (let each = 0; each < COUNT; each++) world.apply('Backend', `backend-${each}`, tunnels)
}

function backends(world: SimulatedWorld): readonly CustomResource[] {
  return world.all().filter(({ kind, metadata }) => kind === 'Backend' && metadata.name !== 'at-work')
}

function isPaused({ metadata }: CustomResource): boolean {
  return metadata.annotations?.[PAUSED] !== undefined
}

/** Status and reason of Ready, and whether its message names the budget. */
function told(cr: CustomResource | undefined): readonly unknown[] | undefined {
  const ready = cr?.status?.conditions?.find(({ type }) => type === 'Ready')
  return ready && [ready.status, ready.reason, ready.message.includes('spec.rateLimit')]
}

/** Status writes of that Backend. */
function isStatusOf(name: string): (sighting: Sighting) => boolean {
  return (sighting) => isStatus(sighting) && sighting.path.endsWith(`/backends/${name}/status`)
}

function isStatus({ method, path }: Sighting): boolean {
  return method === 'PATCH' && /\/backends\/[^/]+\/status$/.test(path)
}
