import { test } from 'vitest'
import { secretType } from '../../../src/kube/core-types.ts'
import { KEY } from '../simulation/api-server.ts'
import { Oracle } from '../simulation/oracle.ts'
import { Laboratory, NAMESPACE, type SimulatedWorld } from '../simulation/world.ts'
import { CaseList } from '../support/case-list.ts'
import { leastOf } from '../support/size.ts'

const ACCOUNT = { namespace: NAMESPACE, name: 'default' }
const HELD_S = 600
/** A change is observed and acted on within this time. */
const SOON_MS = 20_000

/** A state that blocks an account for a long time, and the edit that unblocks it. */
interface Hold {
  readonly what: string
  /** From the beginning, or once it is Ready. */
  readonly point: 'new' | 'at work'
  readonly begin: (world: SimulatedWorld) => void
  readonly edit: (world: SimulatedWorld) => void
}

const edits: readonly (readonly [string, Hold['edit']])[] = [
  ['another key in the Secret', (world) => putKey(world, KEY)],
  [
    'another Secret',
    (world) => {
      world.putSecret('second', { apiKey: KEY })
      patch(world, { apiKeySecretRef: { name: 'second' } })
    },
  ],
]

const holds: readonly Hold[] = (['new', 'at work'] as const).flatMap((point) => [
  ...edits.map(([what, edit]): Hold => {
    return { what: `429 for ten minutes, ${what}`, point, begin: (world) => refuse(world), edit }
  }),
  {
    what: 'a request a minute, and then more',
    point,
    begin: (world) => patch(world, { rateLimit: { requestsPerMinute: 1, burst: 1 } }),
    edit: (world) => patch(world, { rateLimit: null }),
  },
])

test('an Account blocked by a long 429 or a small budget still notices edits', async () => {
  const laboratory = await Laboratory.open()
  const list = new CaseList('held accounts', 'simulation', { least: leastOf(6) })
  for (const hold of holds) {
    list.add({ write: hold.what, point: hold.point, fault: 'held' }, await play(laboratory, hold))
  }
  await list.end()
})

async function play(laboratory: Laboratory, { point, begin, edit }: Hold): Promise<readonly string[]> {
  const world = laboratory.world({ kinds: new Set(['Backend', 'IPPolicy', 'BotUser', 'ReservedAddress']) })
  try {
    const oracle = await Oracle.watch(world)
    const problems: string[] = []
    if (point === 'at work') {
      make(world)
      problems.push(...(await oracle.untilRest()))
    }
    begin(world)
    if (point === 'new') make(world)
    // Long enough for the next resync of the account.
    await world.advance(90_000)
    if (point === 'new' && world.account?.status?.conditions === undefined) problems.push('the Account says nothing')
    edit(world)
    world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: {}, description: 'edited' })
    await world.until(() => oracle.isAtRest, SOON_MS)
    if (!oracle.isAtRest) problems.push(...(await oracle.untilRest()), 'not within the time that a change takes')
    return [...problems, ...(await oracle.unlikeDeclared()), ...oracle.violations]
  } finally {
    world.down()
  }
}

function make(world: SimulatedWorld): void {
  world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: {} })
  world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  world.apply('BotUser', 'deploy', { displayName: 'Deploy' })
  world.apply('ReservedAddress', 'front', {})
}

/** From now on the API refuses the key in use and asks the client to wait; it accepts another key of the account. */
function refuse(world: SimulatedWorld): void {
  putKey(world, LIMITED)
  world.trouble = {
    request: ({ server, headers }) => {
      if (server !== 'api' || !headers.authorization?.includes(LIMITED)) return undefined
      const answer = {
        status: 429,
        headers: { 'retry-after': String(HELD_S) },
        body: '{"status_code":429,"msg":"slow down"}',
      }
      return { type: 'answer', when: 'before', answer }
    },
  }
}

const LIMITED = 'key-that-is-limited'

function putKey(world: SimulatedWorld, key: string): void {
  const data = { apiKey: Buffer.from(key).toString('base64') }
  world.server.patch(secretType, { namespace: NAMESPACE, name: 'key' }, { data })
}

function patch(world: SimulatedWorld, spec: Readonly<Record<string, unknown>>): void {
  world.server.patch(world.kinds.accountType('Account'), ACCOUNT, { spec })
}
