import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, test } from 'vitest'
import { ApiError } from '../../../../src/api/errors.ts'
import { Memories, Memory } from '../../../../src/managed/reconcile/memory.ts'

const answer = { nonce: 'aaaaaaaa', number: 2, object: { id: 'bkdtg_1' } }

/** A memory in which every slice knows something. */
function full(): Memory {
  const memory = new Memory()
  const { identity, plan, outputs, rotation, poll } = memory
  identity.answer = answer
  identity.voidAttempt = { nonce: 'bbbbbbbb', number: 1 }
  identity.unknownUntil = 1
  identity.firstScanAt = 2
  identity.createdHere = true
  identity.made = [{ id: 'bkdtg_1', path: 'things', at: 3 }]
  identity.denied = [{ id: 'bkdtg_2', tries: 1, isOpen: true }]
  identity.expectCopies(['bkdtg_3'])
  identity.contest = { about: 'a', turns: 1, at: 4 }
  identity.remade(5, 100)
  identity.isLost = true
  plan.childUnknownUntil = 6
  plan.updateUnknownUntil = 7
  plan.placeholderUnknownUntil = 8
  plan.ignored = 'b'
  plan.replacedFor = 'c'
  plan.retiringSince = 9
  plan.keptFor = 'bkdtg_4'
  outputs.tokenSecret = 'token'
  outputs.refusing = 'bkdtg_5'
  outputs.dismissed = true
  outputs.reissued(10)
  rotation.failure = { failures: 1, at: 11, about: 'd', message: 'e' }
  memory.delete.deletingSince = 12
  memory.delete.heldUp = { resource: { kind: 'Edge', name: 'shop' }, by: [] }
  memory.delete.lastCallSent = true
  memory.delete.released = true
  poll.at = 13
  poll.clockOffset = 14
  return memory
}

test('what requests of this process did survives a restored etcd, and what was concluded from later states does not', () => {
  const memory = full()
  memory.rollBack()
  const { identity, plan, outputs, rotation, poll } = memory
  expect({ ...identity }).toEqual({
    answer,
    voidAttempt: { nonce: 'bbbbbbbb', number: 1 },
    unknownUntil: 1,
    made: [{ id: 'bkdtg_1', path: 'things', at: 3 }],
    denied: [],
    contest: { about: 'a', turns: 1, at: 4 },
    creates: identity.creates,
  })
  expect(identity.pauseBeforeRemake(5, 100)).toBe(100)
  expect({ ...plan }).toEqual({
    childUnknownUntil: 6,
    updateUnknownUntil: 7,
    placeholderUnknownUntil: 8,
    ignored: 'b',
  })
  expect({ ...outputs }).toEqual({ tokenSecret: 'token', refusing: 'bkdtg_5' })
  expect(outputs.pauseBeforeReissue(10)).toBe(60_000)
  expect({ ...rotation }).toEqual({})
  expect({ ...memory.delete }).toEqual({
    heldUp: { resource: { kind: 'Edge', name: 'shop' }, by: [] },
    lastCallSent: true,
  })
  expect({ ...poll }).toEqual({ clockOffset: 14 })
})

test('a resource that was never seen has nothing to roll back, and a later one of its name starts again', () => {
  const memories = new Memories()
  memories.rollBack('one')
  expect(memories.of('one')).toEqual(new Memory())
  memories.of('one').delete.heldUp = { resource: { kind: 'Edge', name: 'shop' }, by: [] }
  expect(memories.heldUp()).toEqual([{ resource: { kind: 'Edge', name: 'shop' }, by: [] }])
  memories.forget('one')
  expect(memories.heldUp()).toEqual([])
})

describe('an answer', () => {
  it('is kept until the status has that very create', () => {
    const { identity } = full()
    identity.stored('bbbbbbbb')
    expect(identity.answer).toBe(answer)
    identity.stored('aaaaaaaa')
    expect(identity.answer).toBeUndefined()
  })

  it('that must not be used is returned to until its object is deleted; then its attempt left nothing behind', () => {
    const { identity } = new Memory()
    identity.holdBack(answer)
    expect(identity.answer).toBe(answer)
    identity.discard(answer)
    expect(identity.answer).toBeUndefined()
    expect(identity.voidAttempt).toEqual({ nonce: 'aaaaaaaa', number: 2 })
  })
})

test('an object that keeps getting lost is created again at once, then after pauses that double', () => {
  const { identity } = new Memory()
  identity.isLost = true
  expect(identity.pauseBeforeRemake(0, 100)).toBe(0)
  identity.remade(0, 100)
  expect(identity.isLost).toBeUndefined()
  expect(identity.pauseBeforeRemake(40, 100)).toBe(60)
  identity.remade(100, 100)
  expect(identity.pauseBeforeRemake(100, 100)).toBe(200)
})

test('creates without an answer are repeated at once, then after pauses that double, until one succeeds', async () => {
  const { creates } = new Memory().identity
  const sent = async (now: number, error?: ApiError) => {
    const send = () => (error === undefined ? Promise.resolve() : Promise.reject(error))
    await creates.send(now, send).catch((caught: unknown) => expect(caught).toBe(error))
    return creates.pauseMs(now)
  }
  const unusable = new ApiError('InvalidResponse', 'no object', { definite: false })
  expect(await sent(0, new ApiError('Invalid', 'no', { definite: true }))).toBe(0)
  expect(await sent(0, new ApiError('NotLeader', 'no', { definite: false }))).toBe(0)
  expect(creates.failure).toBeUndefined()
  expect(await sent(0, unusable)).toBe(0)
  expect(creates.failure).toBe(unusable)
  expect(await sent(10, unusable)).toBe(60_000)
  expect(await sent(60_010, unusable)).toBe(120_000)
  expect(await sent(180_010, new ApiError('Timeout', 'no answer', { definite: false }))).toBe(20_000)
  creates.succeeded()
  expect(creates.pauseMs(180_010)).toBe(0)
})

test('refused answers are counted until one is accepted, however long that takes', () => {
  const { outputs } = new Memory()
  expect(outputs.pauseAfterRefusal(0)).toBe(0)
  outputs.refusing = 'ak_1'
  outputs.refused('no token', 0)
  expect(outputs.refusing).toBeUndefined()
  expect(outputs.pauseAfterRefusal(0)).toBe(60_000)
  outputs.refused('an empty token', 86_400_000)
  expect(outputs.pauseAfterRefusal(86_400_000)).toBe(120_000)
  expect(outputs.refusedFor).toBe('an empty token')
  outputs.accepted()
  expect(outputs.pauseAfterRefusal(86_400_000)).toBe(0)
  expect(outputs.refusedFor).toBeUndefined()
})

test('a rotation that succeeded forgets the failures before it', () => {
  const { rotation } = full()
  rotation.succeeded()
  expect(rotation.failure).toBeUndefined()
})

const ROOT = fileURLToPath(new URL('../../../../src/managed/', import.meta.url))
const ROOM_OF = {
  identity: 'identity',
  plan: 'plan',
  outputs: 'outputs',
  rotation: 'rotation',
  delete: 'delete',
  poll: 'status',
}

it('has no slice of which a file of another room assigns a field', () => {
  const assigned = globSync('**/*.ts', { cwd: ROOT }).flatMap((file) => {
    const source = readFileSync(`${ROOT}${file}`, 'utf8')
    return [...source.matchAll(/\b(?:memory|memories\.of\([^)]*\)+)\.(\w+)\.\w+ (?:\?\?)?= /g)].map(([text, slice]) => {
      return { file, text, room: ROOM_OF[slice as keyof typeof ROOM_OF] }
    })
  })
  expect(new Set(assigned.map(({ room }) => room)).size).toBeGreaterThan(4)
  expect(assigned.filter(({ file, room }) => !file.startsWith(`${room}/`))).toEqual([])
})
