import { describe, expect, test } from 'vitest'
import { alikeOf } from '../../../src/managed/alike.ts'
import type { Reconciliation } from '../../../src/managed/reconciliation.ts'
import { noteMark, refuseTaken, takerOf } from '../../../src/managed/taken-over.ts'
import { cr, marked } from '../../builders/custom-resource.ts'

/** A run of the Backend `shop/web` with uid `mine`, whose object was last seen with the mark of `uid`. */
function runWith(uid: string | undefined): Reconciliation & { readonly noted: unknown[] } {
  const noted: unknown[] = []
  const status = { id: 'bkdtg_1', create: { nonce: 'a', attempt: 1, ...(uid !== undefined && { uid }) } }
  const run = {
    context: { installation: 'here' },
    cr: cr({}, status),
    status,
    noted,
    note: (fields: unknown) => noted.push(fields),
  }
  return run as unknown as Reconciliation & { readonly noted: unknown[] }
}

describe('an object with a mark', () => {
  test.each([
    ['of another life, once it bore ours', 'mine', { uid: 'other' }, true],
    ['of ours', 'mine', { uid: 'mine' }, false],
    ['of a former life that is being taken over', undefined, { uid: 'other' }, false],
    ['of before a status that came back with a backup', 'former', { uid: 'former' }, false],
    ['of another resource', 'mine', { uid: 'other', name: 'api' }, false],
    ['of another installation', 'mine', { uid: 'other', installation: 'there' }, false],
  ])('%s', (_title, seen, marker, taken) => {
    const run = runWith(seen)
    const object = marked('bkdtg_1', marker)
    expect(takerOf(run, object) !== undefined).toBe(taken)
    if (!taken) expect(refuseTaken(run, object)).toBe(object)
    else
      expect(() => refuseTaken(run, object)).toThrow(
        /bkdtg_1 bears the mark of another Backend\/web \(UID other\).*--installation/,
      )
  })

  test('is noted to be ours when it is, once', () => {
    for (const [seen, uid, notes] of [
      [undefined, 'mine', 1],
      ['former', 'mine', 1],
      ['mine', 'mine', 0],
      [undefined, 'other', 0],
    ] as const) {
      const run = runWith(seen)
      noteMark(run, marked('bkdtg_1', { uid }))
      expect(run.noted).toHaveLength(notes)
    }
  })
})

describe('objects that may be of a former life', () => {
  const spec = { type: 'TunnelGroup', tunnelGroup: {}, metadata: 'of web' }
  const objects = [
    marked('bkdtg_1', { installation: 'there' }),
    marked('bkdtg_2', { installation: 'there', name: 'api' }),
    marked('bkdtg_3'),
    { id: 'bkdtg_4', metadata: 'of web' },
    { id: 'bkdtg_5', metadata: 'of api' },
    { id: 'bkdtg_6', metadata: '', name: 'of web' },
  ]

  test('bear the mark of this name in another installation, or have the same text where a mark stands', () => {
    expect(alikeOf(objects, cr({}, {}, spec), 'metadata', 'here')).toEqual({
      elsewhere: [{ id: 'bkdtg_1', installation: 'there' }],
      unmarked: ['bkdtg_4'],
    })
    expect(alikeOf(objects, cr({}, {}, { ...spec, name: 'of web' }), 'name', 'here').unmarked).toEqual(['bkdtg_6'])
  })

  test('are none where the user sets no text: every object without one would be', () => {
    for (const metadata of [undefined, '']) {
      expect(alikeOf(objects, cr({}, {}, { ...spec, metadata }), 'metadata', 'here').unmarked).toEqual([])
    }
  })
})
