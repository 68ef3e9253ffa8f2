import { beforeEach, describe, expect, test } from 'vitest'
import { ApiError } from '../../../../src/api/errors.ts'
import type { UnmanagedObjects } from '../../../../src/managed/descriptor/access.ts'
import { mirrorName } from '../../../../src/managed/sessions/mirrored.ts'
import { CommandWorld, refusal } from '../../../builders/command-world.ts'
import { mirroredAccount } from '../../../builders/sessions.ts'

let world: CommandWorld

beforeEach(() => {
  world = new CommandWorld()
})

const all = { type: 'Selector' as const, selector: {} }

test('a command goes to each target once, and applied for ever it does nothing more', async () => {
  for (const id of ['ts_1', 'ts_2']) world.show(id)
  world.command({ action: 'Stop', target: all })
  await world.settle()
  expect(world.posts).toEqual(['stop ts_1', 'stop ts_2'])
  expect([world.phase(), world.states()]).toEqual(['Complete AllDone', { ts_1: ['Done'], ts_2: ['Done'] }])
  const { resourceVersion } = world.get()?.metadata ?? {}
  world.restart()
  for (let look = 0; look < 3; look++) await world.settle()
  expect(world.posts).toHaveLength(2)
  expect(world.get()?.metadata.resourceVersion).toBe(resourceVersion)
  expect(world.events).toEqual(['CommandRunning', 'AllDone'])
})

describe('whom it means', () => {
  test('is settled once: who comes later is left alone', async () => {
    world.show('ts_1')
    world.command({ action: 'UpdateAndRestart', target: all })
    await world.reconcile()
    world.show('ts_2')
    await world.settle('now', 100)
    expect(world.posts).toEqual(['update ts_1', 'restart ts_1'])
  })

  test('by labels are those who have them', async () => {
    world.show('ts_1', {}, { 'culvert.dev/region': 'eu' })
    world.show('ts_2', {}, { 'culvert.dev/region': 'us' })
    world.command({
      action: 'Stop',
      target: { type: 'Selector', selector: { matchLabels: { 'culvert.dev/region': 'us' } } },
    })
    await world.settle()
    expect(world.posts).toEqual(['stop ts_2'])
  })

  test('by reference is that one', async () => {
    world.show('ts_1')
    world.show('ts_2')
    world.command({ action: 'Stop', target: { type: 'Session', sessionRef: { name: mirrorName('ts-', 'ts_2') } } })
    await world.settle()
    expect(world.posts).toEqual(['stop ts_2'])
  })

  test('by id need not be mirrored', async () => {
    world.command({ action: 'Stop', target: { type: 'ID', id: 'ts_9' } })
    await world.settle()
    expect(world.posts).toEqual(['stop ts_9'])
  })

  describe('in a shared account', () => {
    const byId = { action: 'Stop', target: { type: 'ID', id: 'ts_9' } }
    const shared = (unmanagedObjects: UnmanagedObjects) => ({ granted: [], unmanagedObjects })

    test.each([
      ['nowhere', 'Deny', undefined, false],
      ['nowhere', 'Reference', undefined, false],
      ['nowhere', 'Adopt', undefined, true],
      ['to another namespace', 'Deny', 'blog', false],
      ['to another namespace', 'Adopt', 'blog', false],
      ['to this namespace', 'Deny', 'shop', true],
    ] as const)(
      'by id, where it is shown %s, and what is nobody’s is under %s',
      async (_where, level, place, isSent) => {
        world.access = shared(level)
        if (place !== undefined) world.show('ts_9', {}, {}, place)
        world.command(byId)
        await world.reconcile()
        expect(world.posts).toEqual(isSent ? ['stop ts_9'] : [])
        expect(world.phase()).toBe(isSent ? 'Complete AllDone' : 'Running ReferenceNotPermitted')
      },
    )

    test('gets the same message for a session of another namespace and for one that does not exist', async () => {
      world.access = shared('Deny')
      world.show('ts_9', {}, {}, 'blog')
      world.command(byId, 'theirs')
      world.command({ ...byId, target: { type: 'ID', id: 'ts_0' } }, 'nobodys')
      const said = async (name: string): Promise<string | undefined> => {
        await world.reconcile(name)
        return world.get(name)?.status?.conditions?.[0]?.message.replaceAll(/ts_\d/g, 'it')
      }
      expect(await said('theirs')).toBe(await said('nobodys'))
      expect(await said('theirs')).toMatch(/^spec\.target\.id: it belongs to no resource in namespace shop/)
    })

    test('by id waits until the sessions were listed: whose one is shows then', async () => {
      world.access = shared('Adopt')
      world.settled = false
      world.command(byId)
      expect(await world.reconcile()).toMatchObject({ type: 'after', ms: 1000 })
      world.show('ts_9', {}, {}, 'blog')
      world.settled = true
      await world.reconcile()
      expect(world.posts).toEqual([])
    })
  })

  test('waits until the sessions were listed, and then for an account that can be used', async () => {
    world.settled = false
    world.command({ action: 'Stop', target: all })
    expect(await world.reconcile()).toMatchObject({ type: 'after', ms: 1000 })
    expect(world.phase()).toBe('')
    world.settled = true
    world.blocked = { reason: 'AccountNotReady', message: 'the key is refused' }
    await world.reconcile()
    expect(world.phase()).toBe('Running AccountNotReady')
    world.blocked = undefined
    world.show('ts_1')
    await world.settle()
    expect(world.phase()).toBe('Complete AllDone')
  })

  test('is nobody: the command is over', async () => {
    world.command({ action: 'Stop', target: { type: 'Session', sessionRef: { name: 'ts-none' } } })
    await world.settle()
    expect(world.phase()).toBe('Failed NoTarget')
    world.show('ts_1')
    await world.settle()
    expect(world.posts).toEqual([])
  })

  test('is too many: nothing is sent', async () => {
    for (let index = 0; index <= 200; index++) world.show(`ts_${index}`)
    world.command({ action: 'Stop', target: all })
    await world.settle()
    expect([world.phase(), world.posts]).toEqual(['Failed TooManyTargets', []])
  })

  test('is never whom somebody wrote into a mirrored session, nor a session that no account shows', async () => {
    const object = world.show('ts_1')
    const type = {
      group: 'culvert.dev',
      version: 'v1alpha1',
      plural: 'tunnelsessions',
      kind: 'TunnelSession',
      namespaced: true,
    }
    world.kube.mergePatch(type, object.metadata, { status: { id: 'ts_other' } }, { subresource: 'status' })
    const stray = world.show('ts_2')
    world.kube.mergePatch(type, stray.metadata, { metadata: { ownerReferences: null } })
    world.command({ action: 'Stop', target: all })
    await world.settle()
    expect([world.phase(), world.posts]).toEqual(['Failed NoTarget', []])
  })
})

describe('the answer', () => {
  const answers = [
    [refusal(409, 'ERR_5004', 'there is no update'), 'Refused', 'ERR_5004'],
    [refusal(409, 'ERR_5005', 'update checks are disabled'), 'Refused', 'ERR_5005'],
    [refusal(409, 'ERR_5006', 'it is already updating itself'), 'Refused', 'ERR_5006'],
    [refusal(409, 'ERR_5007', 'it has updated itself'), 'Refused', 'ERR_5007'],
    [refusal(404, 'ERR_3004', 'there is none'), 'Gone', undefined],
    [new ApiError('Timeout', 'no answer', { definite: false }), 'Unknown', undefined],
    [new ApiError('ServerError', 'broken', { definite: false, status: 503 }), 'Unknown', undefined],
  ] as const

  test.each(answers)('%s makes it %s', async (answer, state, code) => {
    world.show('ts_1')
    world.answer = () => answer
    world.command({ action: 'UpdateAndRestart', target: all })
    await world.settle()
    expect(world.posts).toEqual(['update ts_1'])
    expect([world.phase(), world.states()]).toEqual(['Failed SomeNotDone', { ts_1: [state, 'Skipped'] }])
    expect(world.get()?.status?.targets?.[0]?.actions[0]).toMatchObject({
      message: answer.message,
      ...(code && { code }),
    })
  })

  test.each(['RateLimited', 'Network', 'Unauthorized', 'NotLeader'] as const)(
    '%s, which surely reached no agent, has it tried again',
    async (code) => {
      world.show('ts_1')
      let once = 0
      world.answer = () => (once++ === 0 ? new ApiError(code, 'not now', { definite: true }) : undefined)
      world.command({ action: 'Stop', target: all })
      await world.settle()
      expect([world.posts.length, world.phase()]).toEqual([2, 'Complete AllDone'])
    },
  )

  test('of one target says nothing of the others', async () => {
    for (const id of ['ts_1', 'ts_2', 'ts_3']) world.show(id)
    world.answer = (post) => (post === 'update ts_2' ? refusal(409, 'ERR_5004', 'there is no update') : undefined)
    world.command({ action: 'UpdateAndRestart', target: all })
    await world.settle('now', 100)
    expect(world.states()).toEqual({ ts_1: ['Done', 'Done'], ts_2: ['Refused', 'Skipped'], ts_3: ['Done', 'Done'] })
    expect(world.get()?.status).toMatchObject({ total: 3, done: 2 })
  })
})

test('a restart comes at least ten seconds after the end of the update, also after a crash in between', async () => {
  for (const id of ['ts_1', 'ts_2']) world.show(id)
  world.command({ action: 'UpdateAndRestart', target: all })
  await world.reconcile()
  await world.clock.advance(4_000)
  world.restart()
  await world.settle('now', 100)
  expect(world.posts).toEqual(['update ts_1', 'update ts_2', 'restart ts_1', 'restart ts_2'])
  const [update = 0, , restart = 0] = world.postedAt
  expect(restart - update).toBeGreaterThanOrEqual(10_000)
  expect(restart - update).toBeLessThan(12_000)
})

/** The most effects of this command: every request, and every Kubernetes write around them. */
const LONGEST = 16

describe.each(['before', 'after'] as const)('a process that dies %s an effect', (when) => {
  test.each(Array.from({ length: LONGEST }, (_, after) => after))(
    'number %i: no request is sent twice, and what may have been sent is Unknown',
    async (after) => {
      for (const id of ['ts_1', 'ts_2']) world.show(id)
      world.command({ action: 'UpdateAndRestart', target: all })
      world.dies = { after, when }
      await world.settle('now', 100)
      expect(new Set(world.posts).size).toBe(world.posts.length)
      for (const [id, [update, restart]] of Object.entries(world.states())) {
        const posted = [`update ${id}`, `restart ${id}`].map((post) => world.posts.includes(post))
        if (update === 'Done') expect(posted[0]).toBe(true)
        if (update === 'Unknown') expect(restart).toBe('Skipped')
        if (restart === 'Skipped') expect(posted[1]).toBe(false)
        expect([update, restart]).not.toContain('Sent')
        expect([update, restart]).not.toContain('Pending')
      }
    },
  )
})

test('somebody who writes into the command while a request is under way takes nothing from it', async () => {
  for (const id of ['ts_1', 'ts_2']) world.show(id)
  const type = {
    group: 'culvert.dev',
    version: 'v1alpha1',
    plural: 'tunnelsessioncommands',
    kind: 'TunnelSessionCommand',
    namespaced: true,
  }
  world.answer = (post) => {
    world.kube.mergePatch(type, { namespace: 'shop', name: 'now' }, { metadata: { annotations: { seen: post } } })
    return undefined
  }
  world.command({ action: 'Stop', target: all })
  await world.settle()
  expect([world.posts, world.phase()]).toEqual([['stop ts_1', 'stop ts_2'], 'Complete AllDone'])
})

test('where another process took the targets over, nothing more is sent', async () => {
  for (const id of ['ts_1', 'ts_2']) world.show(id)
  const type = {
    group: 'culvert.dev',
    version: 'v1alpha1',
    plural: 'tunnelsessioncommands',
    kind: 'TunnelSessionCommand',
    namespaced: true,
  }
  world.answer = () => {
    const targets = world.get()?.status?.targets?.map((each) => {
      return { ...each, actions: each.actions.map((action) => ({ ...action, state: 'Unknown' })) }
    })
    world.kube.mergePatch(type, { namespace: 'shop', name: 'now' }, { status: { targets } }, { subresource: 'status' })
    return undefined
  }
  world.command({ action: 'Stop', target: all })
  expect(await world.reconcile()).toMatchObject({ type: 'backoff' })
  await world.settle()
  expect([world.posts, world.states()]).toEqual([['stop ts_1'], { ts_1: ['Unknown'], ts_2: ['Unknown'] }])
})

describe('the session after a restart', () => {
  const restarted = async (): Promise<void> => {
    world.command({ action: 'Restart', target: { type: 'ID', id: 'ts_1' } })
    await world.reconcile()
    await world.clock.advance(2000)
  }
  const newID = () => world.get()?.status?.targets?.[0]?.newID

  test('is the only one that appeared since and is alike', async () => {
    world.show('ts_1')
    world.show('ts_twin', { started_at: '2026-01-02T00:00:00Z' })
    await world.clock.advance(60_000)
    await restarted()
    expect(newID()).toBeUndefined()
    world.show('ts_other', { ip: '198.51.100.8', started_at: '2026-01-03T00:00:00Z' })
    world.show('ts_new', { started_at: '2026-01-03T00:00:00Z' })
    await world.reconcile()
    expect(newID()).toBe('ts_new')
  })

  test('is not told where two are alike', async () => {
    world.show('ts_1')
    await restarted()
    world.show('ts_a', { started_at: '2026-01-03T00:00:00Z' })
    world.show('ts_b', { started_at: '2026-01-03T00:00:00Z' })
    await world.settle('now', 200)
    expect(newID()).toBeUndefined()
  })

  test('is not looked for where sessions are not mirrored', async () => {
    world.show('ts_1')
    world.account = mirroredAccount('default', { mirrorSessions: { enabled: false } })
    world.command({ action: 'Restart', target: { type: 'ID', id: 'ts_1' } })
    expect(await world.settle('now', 1)).toEqual({ type: 'done' })
  })
})

describe('a restart waits for an update of the same session', () => {
  const id = { type: 'ID', id: 'ts_1' }
  const gap = (): number => (world.postedAt[1] ?? 0) - (world.postedAt[0] ?? 0)

  test('whose command was deleted since', async () => {
    world.show('ts_1')
    world.command({ action: 'Update', target: id }, 'update')
    await world.settle('update')
    world.delete('update')
    world.command({ action: 'Restart', target: id })
    await world.settle('now', 100)
    expect(world.posts).toEqual(['update ts_1', 'restart ts_1'])
    expect(gap()).toBeGreaterThanOrEqual(10_000)
    world.command({ action: 'Restart', target: id }, 'again')
    const { length } = world.postedAt
    const now = world.clock.now()
    await world.reconcile('again')
    expect(world.postedAt.slice(length)).toEqual([now])
  })

  test('whose command was deleted while the request was under way', async () => {
    world.show('ts_1')
    world.command({ action: 'Update', target: id }, 'update')
    world.answer = (post) => {
      if (post.startsWith('update')) world.delete('update')
      return undefined
    }
    await world.reconcile('update')
    world.command({ action: 'Restart', target: id })
    await world.settle('now', 100)
    expect(gap()).toBeGreaterThanOrEqual(10_000)
  })

  test('that was refused no longer', async () => {
    world.show('ts_1')
    world.answer = (post) => (post.startsWith('update') ? refusal(409, 'ERR', 'no update') : undefined)
    world.command({ action: 'Update', target: id }, 'update')
    await world.settle('update')
    world.delete('update')
    world.command({ action: 'Restart', target: id })
    await world.reconcile()
    expect(gap()).toBe(0)
  })

  test('whose command does not stay, also in another process', async () => {
    world.show('ts_1')
    world.command({ action: 'Update', target: id, ttlAfterFinished: '1s' }, 'update')
    await world.reconcile('update')
    world.restart()
    await world.clock.advance(1000)
    await world.reconcile('update')
    world.command({ action: 'Restart', target: id })
    await world.settle('now', 100)
    expect(gap()).toBeGreaterThanOrEqual(10_000)
    await world.reconcile('update')
    expect(world.get('update')).toBeUndefined()
  })
})

test('a command goes when its time after the end is over, and not before', async () => {
  world.show('ts_1')
  world.command({ action: 'Stop', target: all, ttlAfterFinished: '10m' })
  expect(await world.reconcile()).toMatchObject({ type: 'after', ms: 600_000 })
  await world.clock.advance(599_999)
  expect(await world.reconcile()).toMatchObject({ type: 'after', ms: 1 })
  await world.clock.advance(1)
  await world.reconcile()
  expect(world.get()).toBeUndefined()
})

describe('how long a command stays after its end', () => {
  const seen = () => {
    const command = world.get()
    const { observedGeneration, conditions = [] } = command?.status ?? {}
    const observed = [observedGeneration, ...conditions.map((each) => each.observedGeneration)]
    return observed.every((generation) => generation === command?.metadata.generation)
  }

  test('may be said when it is over, and then counts from the end', async () => {
    world.show('ts_1')
    world.command({ action: 'Stop', target: all })
    expect(await world.reconcile()).toEqual({ type: 'done' })
    await world.clock.advance(60_000)
    world.keepFor('10m')
    expect(await world.reconcile()).toMatchObject({ type: 'after', ms: 540_000 })
    expect([seen(), world.phase()]).toEqual([true, 'Complete AllDone'])
    const { resourceVersion } = world.get()?.metadata ?? {}
    await world.reconcile()
    expect(world.get()?.metadata.resourceVersion).toBe(resourceVersion)
    world.keepFor('1m')
    await world.reconcile()
    expect([world.get(), world.posts]).toEqual([undefined, ['stop ts_1']])
  })

  test('may be unsaid, and then it stays', async () => {
    world.show('ts_1')
    world.command({ action: 'Stop', target: all, ttlAfterFinished: '10m' })
    await world.reconcile()
    world.keepFor(null)
    expect(await world.reconcile()).toEqual({ type: 'done' })
    expect(seen()).toBe(true)
  })

  test('may change while it is under way, and nothing is sent again for that', async () => {
    world.show('ts_1')
    world.command({ action: 'UpdateAndRestart', target: { type: 'ID', id: 'ts_1' } })
    world.answer = () => {
      world.keepFor('24h')
      return undefined
    }
    await world.reconcile()
    world.keepFor('1h')
    world.answer = () => undefined
    await world.clock.advance(11_000)
    await world.reconcile()
    expect([world.phase(), world.posts, seen()]).toEqual(['Complete AllDone', ['update ts_1', 'restart ts_1'], true])
    await world.settle('now', 100)
    expect(world.get()).toBeUndefined()
  })

  test('counts as it is at that moment: one that is being deleted, and was just given more time, stays', async () => {
    world.show('ts_1')
    world.command({ action: 'Stop', target: all, ttlAfterFinished: '10m' })
    await world.reconcile()
    await world.clock.advance(600_000)
    world.beforeWrite = () => world.keepFor('1h')
    expect(await world.reconcile()).toMatchObject({ type: 'backoff' })
    expect(await world.reconcile()).toMatchObject({ type: 'after', ms: 3_000_000 })
  })

  test('is noticed when it changes between two writes of the operator', async () => {
    world.show('ts_1')
    world.command({ action: 'Restart', target: { type: 'ID', id: 'ts_1' } })
    await world.reconcile()
    world.show('ts_new', { started_at: '2026-01-03T00:00:00Z' })
    world.beforeWrite = () => world.keepFor('10m')
    const outcome = await world.reconcile()
    expect(outcome).toMatchObject({ type: 'after' })
    expect(outcome?.type === 'after' && outcome.ms).toBeGreaterThan(500_000)
    expect(seen()).toBe(true)
  })
})

test('a command whose deletion something on the way answered 404 is deleted all the same', async () => {
  world.show('ts_1')
  world.lostDeletions = 1
  world.command({ action: 'Stop', target: all, ttlAfterFinished: '10m' })
  await world.settle()
  expect(world.get()).toBeUndefined()
})

describe('a command that was carried out while the clock was 40 days ahead', () => {
  const FORTY_DAYS = 40 * 24 * 3_600_000

  test('goes when its time is over, counted from when the clock was right again', async () => {
    world.show('ts_1')
    world.command({ action: 'Stop', target: all, ttlAfterFinished: '10m' })
    world.clock.stepWall(FORTY_DAYS)
    await world.reconcile()
    world.clock.stepWall(-FORTY_DAYS)
    expect(await world.reconcile()).toMatchObject({ type: 'after', ms: 600_000 })
    await world.clock.advance(600_000)
    await world.reconcile()
    expect(world.get()).toBeUndefined()
  })

  test('continues to its second step after the pause', async () => {
    world.show('ts_1')
    world.command({ action: 'UpdateAndRestart', target: all })
    world.clock.stepWall(FORTY_DAYS)
    await world.reconcile()
    world.clock.stepWall(-FORTY_DAYS)
    const again = await world.reconcile()
    await world.clock.advance(again?.type === 'after' ? again.ms : 0)
    await world.reconcile()
    expect(world.posts).toEqual(['update ts_1', 'restart ts_1'])
  })
})

test('a paused command sends nothing', async () => {
  world.show('ts_1')
  world.kube.create(
    {
      group: 'culvert.dev',
      version: 'v1alpha1',
      plural: 'tunnelsessioncommands',
      kind: 'TunnelSessionCommand',
      namespaced: true,
    },
    { namespace: 'shop', name: 'now' },
    { spec: { action: 'Stop', target: all }, metadata: { annotations: { 'culvert.dev/paused': 'true' } } },
  )
  await world.settle()
  expect(world.posts).toEqual([])
})

describe('a restart after an update of the same session', () => {
  const on = (action: string, id = 'ts_1') => ({ action, target: { type: 'ID', id } })

  test('waits for 10 s, whichever command it is of', async () => {
    world.command(on('Update'), 'first')
    await world.settle('first')
    world.command(on('Restart'), 'then')
    const [updatedAt = 0] = world.postedAt
    await world.settle('then')
    expect(world.posts).toEqual(['update ts_1', 'restart ts_1'])
    expect((world.postedAt[1] ?? 0) - updatedAt).toBeGreaterThanOrEqual(10_000)
    expect(world.states('then')).toEqual({ ts_1: ['Done'] })
  })

  test('waits as well where the answer to the update got lost, and not after one that was refused', async () => {
    world.answer = (post) =>
      post === 'update ts_1' ? new ApiError('Timeout', 'no answer', { definite: false }) : undefined
    world.command(on('Update'), 'first')
    await world.settle('first')
    expect(world.states('first')).toEqual({ ts_1: ['Unknown'] })
    world.command(on('Restart'), 'then')
    expect(await world.reconcile('then')).toMatchObject({ type: 'after', ms: 10_500 })
    world.answer = (post) => (post === 'update ts_2' ? refusal(409, 'ERR', 'no update') : undefined)
    world.command(on('Update', 'ts_2'), 'second')
    await world.settle('second')
    world.command(on('Restart', 'ts_2'), 'at-once')
    await world.reconcile('at-once')
    expect(world.posts.at(-1)).toBe('restart ts_2')
  })

  test('waits where the update comes between the decision and the request, and is sent once', async () => {
    world.command(on('Update'), 'first')
    world.command(on('Restart'), 'then')
    // The targets are stored first, then that the restart is about to be sent: the other command has run right before
    // that.
    let writes = 0
    const between = (): void => {
      writes += 1
      if (writes < 2) world.beforeWrite = between
      else world.beginUpdate('first', 'ts_1')
    }
    world.beforeWrite = between
    const outcome = await world.reconcile('then')
    expect(outcome).toMatchObject({ type: 'after' })
    expect(world.posts).toEqual([])
    expect(world.states('then')).toEqual({ ts_1: ['Pending'] })
  })

  test('of another session waits for nothing', async () => {
    world.command(on('Update'), 'first')
    await world.settle('first')
    world.command(on('Restart', 'ts_2'), 'then')
    await world.reconcile('then')
    expect(world.posts).toEqual(['update ts_1', 'restart ts_2'])
  })
})
