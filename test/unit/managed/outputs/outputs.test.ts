import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OwnerReference } from '../../../../src/kube/types.ts'
import { heldToken, isLive, tokenFingerprint, tokenPatch } from '../../../../src/managed/outputs/held-token.ts'
import type { DataObject } from '../../../../src/managed/outputs/place.ts'
import { isMarkedAsOwn, LABELS, noteOf, ownershipOf, withOwner } from '../../../../src/managed/ownership.ts'
import { countedRepeat, pauseBeforeNext, type Repeats } from '../../../../src/managed/run/damping.ts'
import { Fingerprints } from '../../../../src/managed/run/fingerprints.ts'
import { applyMergePatch } from '../../../../src/util/json.ts'
import { cr } from '../../../builders/custom-resource.ts'

function secret(
  metadata: Partial<DataObject['metadata']> = {},
  data: Readonly<Record<string, string>> = {},
): DataObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'shop', uid: 'secret', resourceVersion: '1', ...metadata },
    data,
  }
}

const owner = (fields: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'culvert.dev/v1alpha1',
  kind: 'Backend',
  name: 'web',
  uid: 'mine',
  controller: true,
  ...fields,
})

test('a Secret holds no token under what every object inherits', () => {
  for (const key of ['constructor', 'toString', '__proto__']) {
    expect(heldToken(secret(), key).token).toBeUndefined()
    expect(heldToken(secret({}, { [key]: Buffer.from('told').toString('base64') }), key).token).toBe('told')
  }
})

describe('an object that outputs should go into', () => {
  test.each([
    ['is absent', undefined, { type: 'absent' }],
    ['is the owner’s', secret({ ownerReferences: [owner()] }), { type: 'own' }],
    ['was a former life’s', secret({ ownerReferences: [owner({ uid: 'former' })] }), { type: 'namesake' }],
    [
      'was let go of',
      secret({ annotations: { 'internal.culvert.dev/output-of': 'Backend/web' } }),
      { type: 'namesake' },
    ],
    [
      'was let go of by another',
      secret({ annotations: { 'internal.culvert.dev/output-of': 'Backend/other' } }),
      { type: 'foreign', owner: 'somebody else' },
    ],
    ['is a person’s', secret(), { type: 'foreign', owner: 'somebody else' }],
    [
      'is another resource’s',
      secret({ ownerReferences: [owner({ name: 'other', uid: 'x' })] }),
      { type: 'foreign', owner: 'Backend/other' },
    ],
    [
      'is of a namesake of another kind',
      secret({ ownerReferences: [owner({ kind: 'Edge', uid: 'x' })] }),
      { type: 'foreign', owner: 'Edge/web' },
    ],
    [
      'is of a namesake of another group',
      secret({ ownerReferences: [owner({ apiVersion: 'apps/v1', uid: 'x' })] }),
      { type: 'foreign', owner: 'Backend/web' },
    ],
    [
      'is another’s although we left a note',
      secret({
        annotations: { 'internal.culvert.dev/output-of': 'Backend/web' },
        ownerReferences: [owner({ name: 'other', uid: 'x' })],
      }),
      { type: 'foreign', owner: 'Backend/other' },
    ],
  ])('%s', (_what, object, ownership) => {
    expect(ownershipOf(object, cr())).toEqual(ownership)
  })

  test('is claimed by one controller, a former life’s reference going and a person’s staying', () => {
    const person = owner({ apiVersion: 'v1', kind: 'ConfigMap', name: 'p', uid: 'p', controller: false })
    const found = secret({ ownerReferences: [owner({ uid: 'former' }), person] })
    const metadata = {
      labels: LABELS,
      annotations: { 'internal.culvert.dev/output-of': noteOf(cr()) },
      ownerReferences: withOwner(found, cr()),
    }
    expect(metadata.ownerReferences).toEqual([person, owner()])
    expect(isMarkedAsOwn(secret(metadata), cr())).toBe(true)
    expect(isMarkedAsOwn(secret({ ...metadata, labels: {} }), cr())).toBe(false)
  })
})

describe('a token in a Secret', () => {
  const keys = fc.constantFrom('token', 'key', 'other')
  const texts = fc.string({ minLength: 1 })

  const fingerprints = new Fingerprints(Buffer.alloc(32, 1))
  const former = new Fingerprints(Buffer.alloc(32, 2))

  test('is live as it was written, and never once it was altered, by the status, or by the Secret where that says nothing', () => {
    const notes = fc.constantFrom(fingerprints, former, undefined)
    fc.assert(
      fc.property(keys, keys, texts, texts, notes, (key, formerKey, token, other, by) => {
        const before = secret(
          { annotations: { 'internal.culvert.dev/output-keys': formerKey } },
          { [formerKey]: btoa('former'), mine: 'x' },
        )
        const issued = { id: 'ak_1', nonce: 'n', token }
        const after = applyMergePatch(before, tokenPatch(before, {}, key, issued)) as unknown as DataObject
        expect(new Set(Object.keys(after.data ?? {}))).toEqual(new Set(['mine', key]))
        const output = { kind: 'Secret' as const, name: 's', keys: [key] }
        const noted = by && { output, internal: { tokenDigest: tokenFingerprint(by, token, 'ak_1') } }
        const status = { id: 'ak_1', ...noted }
        expect(isLive(heldToken(after, key), status, fingerprints)).toBe(true)
        const altered = { ...after, data: { ...after.data, [key]: Buffer.from(other).toString('base64') } }
        expect(isLive(heldToken(altered, key), status, fingerprints)).toBe(other === token)
        expect(isLive(heldToken(after, key), { ...status, id: 'ak_2' }, fingerprints)).toBe(false)
      }),
    )
  })

  test('is none when it is empty', () => {
    expect(heldToken(secret({}, { token: '' }), 'token').token).toBeUndefined()
  })
})

test('tokens are issued anew at once, then ever more slowly while something goes on taking them, and at once again after a calm', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 20_000_000 }), { minLength: 1, maxLength: 60 }), (gaps) => {
      let now = 0
      let before: Repeats | undefined
      const at: number[] = []
      for (const gap of gaps) {
        now += gap
        if (pauseBeforeNext(before, now) > 0) continue
        before = countedRepeat(before, now)
        at.push(now)
      }
      expect(at[0]).toBe(gaps[0])
      // In any six hours no more than pauses doubling from one minute to an hour allow, twice because of a quiet period
      // between.
      for (const [index, time] of at.entries()) {
        const soon = at.slice(index).filter((other) => other - time <= 21_600_000)
        expect(soon.length).toBeLessThanOrEqual(16)
      }
    }),
  )
  expect(pauseBeforeNext(undefined, 5)).toBe(0)
  expect(pauseBeforeNext(countedRepeat(undefined, 0), 0)).toBe(60_000)
  expect(pauseBeforeNext(countedRepeat(countedRepeat(undefined, 0), 60_000), 60_000)).toBe(120_000)
})
