import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AuditLog } from '../../cluster/support/audit-log.ts'
import { samplesOf } from '../../cluster/support/metric.ts'
import { until } from '../../cluster/support/wait.ts'
import { conditionOf, type Resource } from '../../cluster/support/world.ts'
import { LyingWorld } from '../support/lying-world.ts'

/*
 * The API lists thousands of sessions, in another order each time and with texts of any length: each would be an object
 * in etcd, and each change a write.
 */

type Session = Readonly<Record<string, unknown>>

const PAGE = 1000
const LIMIT = 60
const MIRRORED = { mirrorSessions: { enabled: true, interval: '1s', maxSessions: LIMIT } }

const audit = AuditLog.ofSuite()
let lying: LyingWorld
let sessions: readonly Session[] = []
let lists = 0
/** What the first page of each list was cut from: its other pages are cut from the same. */
const begun = new Map<number, readonly Session[]>()
beforeAll(async () => {
  lying = await LyingWorld.open({}, MIRRORED)
  lying.answering = ({ path }) => {
    const { pathname, searchParams } = new URL(path, 'http://api')
    if (pathname !== '/tunnel_sessions') return undefined
    const from = Number(searchParams.get('from') ?? 0)
    if (from === 0) begun.set(++lists, sessions)
    const list = Number(searchParams.get('list') ?? lists)
    const all = begun.get(list) ?? []
    const next = `${lying.front.baseURL}/tunnel_sessions?list=${list}&from=${from + PAGE}`
    return {
      tunnel_sessions: all.slice(from, from + PAGE),
      next_page_uri: from + PAGE < all.length ? next : null,
    }
  }
}, 120_000)
afterAll(() => lying[Symbol.asyncDispose]())

function session(id: string, fields: Session = {}): Session {
  return {
    id,
    uri: `https://api.example.com/tunnel_sessions/${id}`,
    os: 'linux',
    region: 'eu',
    ip: '192.0.2.1',
    ...fields,
  }
}

function many(from: number, to: number): readonly Session[] {
  return Array.from({ length: to - from }, (_, index) => session(`ts_${String(from + index).padStart(6, '0')}`))
}

/** Waits until lists begun from now on have completed: the current one, and two more. */
async function listed(): Promise<void> {
  const from = lists
  await until('the sessions were listed again', () => lists >= from + 3, { timeoutMs: 60_000 })
}

/** Waits until exactly `count` are shown, with their statuses. */
async function shown(count: number): Promise<readonly Resource[]> {
  const look = async () => {
    const all = await lying.world.list('TunnelSession')
    return all.length === count && all.every(({ status }) => status?.id !== undefined) ? all : undefined
  }
  const describe = async () => ({
    shown: (await lying.world.list('TunnelSession')).length,
    log: lying.world.operator.log.slice(-2000),
  })
  return until(`${count} sessions are shown`, look, { timeoutMs: 60_000, describe })
}

/** The operator's writes since `mark`. Versions of objects would not tell: a patch that changes nothing keeps them. */
async function written(mark: number): Promise<readonly string[]> {
  const writes = await audit.operatorWrites([lying.world.namespace, lying.world.operatorNamespace], mark)
  return writes.map(({ verb, resource, subresource }) => [verb, resource, subresource].filter(Boolean).join(' '))
}

const leftOut = async (): Promise<readonly number[]> => {
  return samplesOf(await lying.world.operator.metrics(), 'culvert_sessions_left_out', ['account="Account/'])
}

describe('of more sessions than an account may mirror', () => {
  test('the limit is mirrored, a condition reports it, and a metric counts the others', async () => {
    sessions = many(0, 42_000).toReversed()
    await shown(LIMIT)
    const { status, message } = await lying.world.reason('Account', 'default', 'SessionsMirrored', 'TooManySessions')
    expect([status, message]).toEqual(['False', expect.stringContaining('spec.mirrorSessions.maxSessions')])
    expect(message).not.toContain('42')
    await until('the metric shows it', async () => (await leftOut()).includes(42_000 - LIMIT))
    await lying.world.ready('Account', 'default')
  })

  const orders: readonly (readonly [string, () => readonly Session[], ...string[]])[] = [
    ['backwards', () => many(0, 42_000), 'nightly'],
    [
      'shuffled',
      () => [...many(0, 5000)].sort((left, right) => (String(left.id).slice(-1) < String(right.id).slice(-1) ? -1 : 1)),
    ],
    ['twice', () => [...many(0, 500), ...many(0, 500)], 'nightly'],
    [
      'with others whose ids are lower',
      () => [...many(0, 2000).map(({ id }) => session(`aa_${String(id)}`)), ...many(0, 2000)],
      'nightly',
    ],
  ]
  for (const [how, list, ...tags] of orders) {
    test(`the same stay when they are listed ${how}, and nothing is written`, { tags }, async () => {
      sessions = many(0, 3000)
      await listed()
      await shown(LIMIT)
      const mark = await audit.mark()
      sessions = list()
      await listed()
      expect(await written(mark)).toEqual([])
    })
  }

  test('freed places go to others, and the report ends once there is room for all', { tags: 'nightly' }, async () => {
    sessions = many(30, 100)
    await listed()
    const ids = (await shown(LIMIT)).map(({ status }) => String(status?.id)).sort()
    expect(ids).toEqual(many(30, 90).map(({ id }) => id))
    sessions = many(30, 50)
    await shown(20)
    const isSilent = (cr: Resource): boolean => conditionOf(cr, 'SessionsMirrored') === undefined
    await lying.world.until('Account', 'default', 'says nothing of sessions', isSilent)
    expect(await leftOut()).toEqual([0])
  })

  test('a spec asks for at least one and at most 20,000', async () => {
    await lying.account('bounds', { mirrorSessions: { enabled: false } })
    for (const maxSessions of [0, 20_001, -1]) {
      await expect(lying.account('bounds', { mirrorSessions: { enabled: false, maxSessions } })).rejects.toThrow(
        'maxSessions',
      )
    }
    await lying.world.delete('Account', 'bounds')
  })
})

describe('the texts of a session', () => {
  const fields = [
    'agent_version',
    'ip',
    'metadata',
    'os',
    'region',
    'transport',
    'started_at',
    'uri',
    'credential',
  ] as const
  const values: readonly (readonly [string, unknown, ...string[]])[] = [
    ['half a megabyte', 'x'.repeat(500_000)],
    ['half a character', `a\ud83d`.repeat(3000), 'nightly'],
    ['control characters', 'a\u0000\u001b[2J\r\nb', 'nightly'],
    ['an object', { id: 'x'.repeat(1000), uri: 'y'.repeat(10_000) }, 'nightly'],
    ['a list', ['a', 'b'], 'nightly'],
    ['a number', 1e300, 'nightly'],
  ]
  for (const [index, [what, value, ...tags]] of values.entries()) {
    const made = session(`ts_x${index}`, Object.fromEntries(fields.map((field) => [field, value])))

    test(`are truncated to the limits of its status when every text is ${what}, and written once`, {
      tags,
    }, async () => {
      const mark = await audit.mark()
      sessions = [made]
      await until('it is the only one', async () => {
        const all = await lying.world.list('TunnelSession')
        return all.length === 1 && all[0]?.status?.id === made.id
      })
      const [found] = await shown(1)
      expect(JSON.stringify(found?.status).length).toBeLessThan(4096 * 6 + 8 * 256 * 6)
      expect(String(found?.status?.metadata ?? '').length).toBeLessThanOrEqual(4096)
      for (const value of Object.values(found?.metadata.labels ?? {})) expect(value).toMatch(/^[A-Za-z0-9._-]{0,63}$/)
      await listed()
      // Without the deletions of those shown before, and what belongs to another account.
      const own = (await written(mark)).filter((write) => /^(create|patch) tunnelsessions/.test(write))
      expect(own).toEqual(['create tunnelsessions', 'patch tunnelsessions status'])
    })
  }
})

test('a namespace mirrors the sessions of its four oldest accounts', {
  tags: 'nightly',
  timeout: 180_000,
}, async () => {
  sessions = many(0, 3)
  await shown(3)
  const own = { mirrorSessions: { enabled: true, interval: '1s' } }
  // Creation times have a resolution of a second: between accounts of the same age, the UIDs decide.
  const made: string[] = []
  for (let index = 0; index < 5; index++) {
    const name = `more-${index}`
    await lying.account(name, own)
    await lying.world.ready('Account', name)
    made.push(name)
  }
  const told = async () => {
    const all = await Promise.all(
      ['default', ...made].map(async (name) => [name, await lying.world.get('Account', name)] as const),
    )
    return all
      .filter(([, cr]) => conditionOf(cr, 'SessionsMirrored')?.reason === 'TooManyMirrors')
      .map(([name]) => name)
  }
  await until('two accounts have no place', async () => (await told()).length === 2, { timeoutMs: 60_000 })
  const oldest = (await Promise.all(['default', ...made].map((name) => lying.world.get('Account', name))))
    .map((cr) => ({ name: cr?.metadata.name ?? '', rank: `${cr?.metadata.creationTimestamp} ${cr?.metadata.uid}` }))
    .sort((left, right) => (left.rank < right.rank ? -1 : 1))
    .map(({ name }) => name)
  expect([...(await told())].sort()).toEqual(oldest.slice(4).sort())
  await lying.account(oldest[1] ?? '', { mirrorSessions: { enabled: false } })
  await until('the next has its place', async () => (await told()).join() === oldest.slice(5).join(), {
    timeoutMs: 90_000,
  })
})
