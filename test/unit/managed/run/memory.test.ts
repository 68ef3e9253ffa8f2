import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, test } from 'vitest'
import { ApiError } from '../../../../src/api/errors.ts'
import { ApplyMemory } from '../../../../src/managed/apply/apply-memory.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import { DeleteMemory, heldUpIn } from '../../../../src/managed/delete/delete-memory.ts'
import { IdentityMemory } from '../../../../src/managed/identity/identity-memory.ts'
import { PollMemory } from '../../../../src/managed/identity/read-object.ts'
import { UnansweredMemory } from '../../../../src/managed/identity/unanswered.ts'
import { OutputMemory } from '../../../../src/managed/outputs/output-memory.ts'
import { PlanMemory } from '../../../../src/managed/plan/remaining.ts'
import { RotationMemory } from '../../../../src/managed/rotation/rotation-memory.ts'
import { Memories, Memory } from '../../../../src/managed/run/memory.ts'

function createdBy(nonce: string): CustomResource {
  return { status: { internal: { create: { nonce } } } } as unknown as CustomResource
}

const answer = { nonce: 'aaaaaaaa', number: 2, object: { id: 'bkdtg_1' } }

function slotsOf(memory: Memory) {
  return {
    identity: memory.of(IdentityMemory),
    unanswered: memory.of(UnansweredMemory),
    plan: memory.of(PlanMemory),
    applied: memory.of(ApplyMemory),
    outputs: memory.of(OutputMemory),
    rotation: memory.of(RotationMemory),
    deletion: memory.of(DeleteMemory),
    poll: memory.of(PollMemory),
  }
}

/** A memory in which every slot knows something. */
function full(): Memory {
  const memory = new Memory()
  const { identity, unanswered, plan, applied, outputs, rotation, deletion, poll } = slotsOf(memory)
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
  unanswered.childUnknownUntil = 6
  unanswered.updateUnknownUntil = 7
  unanswered.placeholderUnknownUntil = 8
  plan.chosen = { fields: { ip: '10.0.0.1' } }
  applied.ignored = 'b'
  applied.replacedFor = 'c'
  applied.retiringSince = 9
  applied.keptFor = 'bkdtg_4'
  outputs.tokenSecret = 'token'
  identity.refusing = 'bkdtg_5'
  outputs.dismissed = true
  outputs.reissued(10)
  rotation.failure = { failures: 1, at: 11, about: 'd', message: 'e' }
  deletion.deletingSince = 12
  deletion.heldUp = { resource: { kind: 'Edge', name: 'shop' }, by: [] }
  deletion.lastCallSent = true
  deletion.released = true
  poll.at = 13
  poll.clockOffset = 14
  return memory
}

test('what requests of this process did survives a restored etcd, and what was concluded from later states does not', () => {
  const memory = full()
  memory.rollBack()
  const { identity, unanswered, plan, applied, outputs, rotation, deletion, poll } = slotsOf(memory)
  expect({ ...identity }).toEqual({
    answer,
    voidAttempt: { nonce: 'bbbbbbbb', number: 1 },
    unknownUntil: 1,
    made: [{ id: 'bkdtg_1', path: 'things', at: 3 }],
    denied: [],
    contest: { about: 'a', turns: 1, at: 4 },
    refusing: 'bkdtg_5',
    creates: identity.creates,
  })
  expect(identity.pauseBeforeRemake(5, 100)).toBe(100)
  expect({ ...unanswered }).toEqual({ childUnknownUntil: 6, updateUnknownUntil: 7, placeholderUnknownUntil: 8 })
  expect({ ...plan }).toEqual({ chosen: { fields: { ip: '10.0.0.1' } } })
  expect({ ...applied }).toEqual({ ignored: 'b' })
  expect({ ...outputs }).toEqual({ tokenSecret: 'token' })
  expect(outputs.pauseBeforeReissue(10)).toBe(60_000)
  expect({ ...rotation }).toEqual({})
  expect({ ...deletion }).toEqual({
    heldUp: { resource: { kind: 'Edge', name: 'shop' }, by: [] },
    lastCallSent: true,
  })
  expect({ ...poll }).toEqual({ clockOffset: 14 })
})

test('a resource that was never seen has nothing to roll back, and a later one of its name starts again', () => {
  const memories = new Memories()
  memories.rollBack('one')
  expect(memories.of('one')).toEqual(new Memory())
  memories.of('one').of(DeleteMemory).heldUp = { resource: { kind: 'Edge', name: 'shop' }, by: [] }
  expect(heldUpIn(memories)).toEqual([{ resource: { kind: 'Edge', name: 'shop' }, by: [] }])
  memories.forget('one')
  expect(heldUpIn(memories)).toEqual([])
})

describe('an answer', () => {
  it('is kept until the status has that very create', () => {
    const memory = full()
    memory.stored(createdBy('bbbbbbbb'))
    expect(memory.of(IdentityMemory).answer).toBe(answer)
    memory.stored(createdBy('aaaaaaaa'))
    expect(memory.of(IdentityMemory).answer).toBeUndefined()
  })

  it('that must not be used is returned to until its object is deleted; then its attempt left nothing behind', () => {
    const identity = new IdentityMemory()
    identity.holdBack(answer)
    expect(identity.answer).toBe(answer)
    identity.discard(answer)
    expect(identity.answer).toBeUndefined()
    expect(identity.voidAttempt).toEqual({ nonce: 'aaaaaaaa', number: 2 })
  })
})

test('an object that keeps getting lost is created again at once, then after pauses that double', () => {
  const identity = new IdentityMemory()
  identity.isLost = true
  expect(identity.pauseBeforeRemake(0, 100)).toBe(0)
  identity.remade(0, 100)
  expect(identity.isLost).toBeUndefined()
  expect(identity.pauseBeforeRemake(40, 100)).toBe(60)
  identity.remade(100, 100)
  expect(identity.pauseBeforeRemake(100, 100)).toBe(200)
})

test('creates without an answer are repeated at once, then after pauses that double, until one succeeds', async () => {
  const { creates } = new IdentityMemory()
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
  const identity = new IdentityMemory()
  expect(identity.pauseAfterRefusal(0)).toBe(0)
  identity.refusing = 'ak_1'
  identity.refused('no token', 0)
  expect(identity.refusing).toBeUndefined()
  expect(identity.pauseAfterRefusal(0)).toBe(60_000)
  identity.refused('an empty token', 86_400_000)
  expect(identity.pauseAfterRefusal(86_400_000)).toBe(120_000)
  expect(identity.refusedFor).toBe('an empty token')
  identity.accepted()
  expect(identity.pauseAfterRefusal(86_400_000)).toBe(0)
  expect(identity.refusedFor).toBeUndefined()
})

test('a rotation that succeeded forgets the failures before it', () => {
  const rotation = full().of(RotationMemory)
  rotation.succeeded()
  expect(rotation.failure).toBeUndefined()
})

const ROOT = fileURLToPath(new URL('../../../../src/managed/', import.meta.url))
const FOLDER_OF: Readonly<Record<string, string>> = {
  IdentityMemory: 'identity',
  UnansweredMemory: 'identity',
  PollMemory: 'identity',
  PlanMemory: 'plan',
  ApplyMemory: 'apply',
  OutputMemory: 'outputs',
  RotationMemory: 'rotation',
  DeleteMemory: 'delete',
}

it('has no slot of which a file of another folder assigns a field', () => {
  const assigned = globSync('**/*.ts', { cwd: ROOT }).flatMap((file) => {
    const source = readFileSync(`${ROOT}${file}`, 'utf8')
    return [...source.matchAll(/\bmemory\.of\((\w+)\)\.\w+ (?:\?\?)?= /g)].map(([text, slot = '']) => {
      return { file, text, folder: FOLDER_OF[slot] }
    })
  })
  expect(new Set(assigned.map(({ folder }) => folder)).size).toBeGreaterThan(4)
  expect(assigned.filter(({ file, folder }) => !file.startsWith(`${folder}/`))).toEqual([])
})
