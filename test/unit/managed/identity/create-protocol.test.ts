import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RemoteObject } from '../../../../src/api/types.ts'
import { formatAttempt } from '../../../../src/managed/attempt.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import { type AttemptMemory, createStep, type Moment } from '../../../../src/managed/identity/create-step.ts'
import { markerOf, PLACEHOLDER_NONCE } from '../../../../src/managed/markers/marker.ts'
import { copiesOf, createdBy, recoverable } from '../../../../src/managed/markers/own-objects.ts'
import { recordedOwnership } from '../../../../src/managed/markers/sealed-note.ts'
import { cr, marked } from '../../../builders/custom-resource.ts'

const NONCES = ['aaaaaaaa', 'bbbbbbbb'] as const
const account = { kind: 'Account', name: 'default' } as const
const remembered = fc.option(fc.record({ nonce: fc.constantFrom(...NONCES), number: fc.integer({ min: 1, max: 3 }) }), {
  nil: undefined,
})

const MOMENT: Moment = { now: 100, leadingSince: 40, times: { requestTimeoutMs: 30, scanPauseMs: 5 } }

/** Every state in which a process may find a resource. */
const states = fc.record({
  attempt: fc.option(
    fc.record({
      uid: fc.constantFrom('mine', 'other'),
      nonce: fc.constantFrom(...NONCES),
      number: fc.integer({ min: 1, max: 3 }),
    }),
    { nil: undefined },
  ),
  id: fc.option(fc.constant('bkdtg_1'), { nil: undefined }),
  stored: fc.option(fc.constantFrom(...NONCES), { nil: undefined }),
  replaced: fc.option(fc.constantFrom(...NONCES), { nil: undefined }),
  answer: remembered,
  refused: remembered,
})

type State = typeof states extends fc.Arbitrary<infer T> ? T : never

function resourceIn({ attempt, id, stored, replaced }: State): CustomResource {
  const annotations =
    attempt === undefined ? {} : { 'internal.culvert.dev/create-attempt': formatAttempt({ ...attempt, account }) }
  return cr(
    { annotations },
    {
      ...(id && { id }),
      internal: {
        ...(stored && { create: { nonce: stored, attempt: 1 } }),
        ...(replaced && { superseded: [{ id: 'bkdtg_0', nonce: replaced }] }),
      },
    },
  )
}

function memoryIn({ answer, refused }: State): AttemptMemory {
  const object = { id: 'bkdtg_2' }
  return { voidAttempt: refused, answer: answer === undefined ? undefined : { ...answer, object } }
}

describe('the next step', () => {
  test('follows from what is durable; memory counts for the very attempt only', () => {
    fc.assert(
      fc.property(states, (state) => {
        const { attempt, id, stored, replaced, answer, refused } = state
        const step = createStep(resourceIn(state), memoryIn(state), MOMENT)
        // The object created by an old manifest may have been replaced since: its nonce in the status settles that.
        const isKnown = attempt?.nonce === stored || attempt?.nonce === replaced
        const open = attempt !== undefined && attempt.uid === 'mine' && !isKnown ? attempt : undefined
        const isSame = (other: typeof answer) => other?.nonce === open?.nonce && other?.number === open?.number
        // An id without the nonce of a create belongs to an object that was only observed.
        const held = stored === undefined ? undefined : id
        if (open === undefined) expect(step).toEqual(held === undefined ? { type: 'begin' } : { type: 'settled', id })
        else if (isSame(answer)) expect(step).toMatchObject({ type: 'store', answer: { object: { id: 'bkdtg_2' } } })
        else if (isSame(refused)) expect(step).toEqual({ type: 'attempt', nonce: open.nonce, number: open.number + 1 })
        else expect(step).toMatchObject({ type: 'resolve', attempt: open })
      }),
      { numRuns: 2000 },
    )
  })

  test('is never a POST while an answer may be out, for a process that remembers nothing', () => {
    fc.assert(
      fc.property(states, (state) => {
        const step = createStep(resourceIn(state), {}, MOMENT)
        expect(['settled', 'resolve', 'begin']).toContain(step.type)
      }),
    )
  })

  const attempt = { uid: 'mine', nonce: 'aaaaaaaa', number: 1 } as const
  const open = resourceIn({
    attempt,
    id: undefined,
    stored: undefined,
    replaced: undefined,
    answer: undefined,
    refused: undefined,
  })
  test.each([
    ['waits for requests of a former leader', {}, { now: 65 }, { notBefore: 70, waitMs: 5, isLast: false }],
    ['waits for a request of its own', { unknownUntil: 120 }, {}, { notBefore: 120, waitMs: 20, isLast: false }],
    ['lists once these are over', { unknownUntil: 90 }, {}, { notBefore: 90, waitMs: 0, isLast: false }],
    ['pauses before the second list', { firstScanAt: 98 }, {}, { notBefore: 103, waitMs: 3, isLast: true }],
    ['lists a second time', { firstScanAt: 95 }, {}, { notBefore: 100, waitMs: 0, isLast: true }],
  ])('of a POST without an answer %s', (_what, memory, moment, scan) => {
    const step = createStep(open, memory, { ...MOMENT, ...moment })
    expect(step).toMatchObject({ type: 'resolve', scan })
  })
})

/** Objects with anybody's marker: here and elsewhere, with equal and other uids, names and nonces. */
const objects: fc.Arbitrary<readonly RemoteObject[]> = fc.uniqueArray(
  fc
    .record({
      id: fc.stringMatching(/^bkdtg_[0-9]{1,2}$/),
      marker: fc.option(
        fc.record({
          installation: fc.constantFrom('here', 'elsewhere'),
          kind: fc.constantFrom('Backend', 'Edge'),
          namespace: fc.constantFrom('shop', 'blog'),
          name: fc.constantFrom('web', 'spare'),
          uid: fc.constantFrom('mine', 'other'),
          nonce: fc.constantFrom(...NONCES, PLACEHOLDER_NONCE),
        }),
      ),
    })
    .map(({ id, marker }): RemoteObject => (marker === null ? { id, metadata: 'text' } : marked(id, marker))),
  { selector: ({ id }) => id, maxLength: 12 },
)

function isSorted(found: readonly RemoteObject[]): boolean {
  return found.every(({ id }, index) => index === 0 || (found[index - 1]?.id ?? '') < id)
}

describe('objects of a resource', () => {
  test('made by one create: installation, uid and nonce are its own, the lowest id first', () => {
    fc.assert(
      fc.property(objects, (all) => {
        const found = createdBy(all, { installation: 'here', uid: 'mine', nonce: 'aaaaaaaa' })
        const expected = all.filter((object) => {
          const marker = markerOf(object)
          return marker?.installation === 'here' && marker.uid === 'mine' && marker.nonce === 'aaaaaaaa'
        })
        expect(new Set(found)).toEqual(new Set(expected))
        expect(isSorted(found)).toBe(true)
      }),
    )
  })

  test('copies have its uid and installation, and are those that the status does not know', () => {
    fc.assert(
      fc.property(
        objects,
        fc.array(fc.stringMatching(/^bkdtg_[0-9]{1,2}$/), { maxLength: 4 }),
        (all, [id, ...rest]) => {
          const status = { ...(id && { id }), internal: { superseded: rest.map((former) => ({ id: former })) } }
          const expected = all.filter((object) => {
            const marker = markerOf(object)
            const isKnown = object.id === id || rest.includes(object.id)
            return marker?.installation === 'here' && marker.uid === 'mine' && !isKnown
          })
          const found = copiesOf(all, 'mine', status, 'here')
          expect(new Set(found)).toEqual(new Set(expected))
          expect(isSorted(found)).toBe(true)
        },
      ),
    )
  })

  test('left by a resource of its name: installation, kind, namespace and name agree; the newest is last', () => {
    fc.assert(
      fc.property(objects, (all) => {
        const expected = all.filter((object) => {
          const marker = markerOf(object)
          const isHere = marker?.installation === 'here' && marker.nonce !== PLACEHOLDER_NONCE
          return isHere && marker.kind === 'Backend' && marker.namespace === 'shop' && marker.name === 'web'
        })
        const found = recoverable(all, cr({ uid: 'new' }), 'here')
        expect(new Set(found)).toEqual(new Set(expected))
        expect(isSorted(found)).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('what the annotation notes', () => {
  const noted = (text: string | undefined) =>
    recordedOwnership(
      cr(text === undefined ? {} : { annotations: { 'internal.culvert.dev/id': text } }),
      () => 'sealed',
    )

  test.each([
    [undefined, { type: 'none' }],
    ['nonsense', { type: 'none' }],
    ['shop/web/mine/bkdtg_1/sealed', { type: 'own', id: 'bkdtg_1' }],
    ['shop/web/mine/bkdtg_1/forged', { type: 'hint', id: 'bkdtg_1' }],
    ['shop/web/mine/bkdtg_1', { type: 'none' }],
    ['shop/web/other/bkdtg_1/sealed', { type: 'hint', id: 'bkdtg_1' }],
    ['shop/spare/mine/bkdtg_1/sealed', { type: 'none' }],
    ['blog/web/mine/bkdtg_1/sealed', { type: 'none' }],
  ])('%s: %o', (text, expected) => expect(noted(text)).toEqual(expected))
})
