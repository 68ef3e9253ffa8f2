import { describe, expect, test } from 'vitest'
import { formatAttempt } from '../../../../src/managed/attempt.ts'
import { type CustomResource, nameOf } from '../../../../src/managed/cr.ts'
import { alikeOf } from '../../../../src/managed/identity/alike.ts'
import { resolveIdentity } from '../../../../src/managed/identity/create.ts'
import { recoverableObjects } from '../../../../src/managed/identity/recovery.ts'
import { recordMarker, refuseTaken } from '../../../../src/managed/identity/taken-over.ts'
import { namesakeKey } from '../../../../src/managed/markers/object-keys.ts'
import { CREATE_ATTEMPT, REMOTE_ID } from '../../../../src/managed/names.ts'
import type { Reconciliation } from '../../../../src/managed/run/reconciliation.ts'
import { cr, marked } from '../../../builders/custom-resource.ts'

/** Another resource of the same cluster. */
const NEIGHBOUR = { name: 'neighbour', uid: 'neighbours' }

/**
 * A reconcile of the Backend `shop/web` with uid `mine`, whose object was last seen with the marker of `uid`, and may
 * belong to another resource.
 */
function runWith(uid: string | undefined, holder?: CustomResource): Reconciliation & { readonly noted: unknown[] } {
  const noted: unknown[] = []
  const status = { id: 'bkdtg_1', internal: { create: { nonce: 'a', attempt: 1, ...(uid !== undefined && { uid }) } } }
  const run = {
    context: {
      installation: 'here',
      resources: {
        holderOf: () => holder,
        noterOf: () => undefined,
        get: ({ name }: { readonly name: string }) => (name === NEIGHBOUR.name ? { metadata: NEIGHBOUR } : undefined),
      },
    },
    cr: cr({}, status),
    status,
    internal: status.internal,
    noted,
    session: { key: { kind: 'Account', namespace: 'shop', name: 'default' } },
    recordInternal: (fields: unknown) => noted.push(fields),
  }
  return run as unknown as Reconciliation & { readonly noted: unknown[] }
}

describe('an object with a mark', () => {
  test.each([
    ['of ours', 'mine', { uid: 'mine' }],
    ['of a former life that is being taken over', undefined, { uid: 'other' }],
    ['of before a status that came back with a backup', 'former', { uid: 'former' }],
    ['of another resource that is gone', 'mine', { uid: 'other', name: 'api' }],
    ['of a former life of another resource', 'mine', { ...NEIGHBOUR, uid: 'other' }],
    ['of another installation', 'mine', { uid: 'other', installation: 'there' }],
  ])('%s is kept', (_title, seen, marker) => {
    const object = marked('bkdtg_1', marker)
    expect(refuseTaken(runWith(seen), object)).toBe(object)
  })

  test.each([
    [
      'of another life, once it had ours',
      'mine',
      { uid: 'other' },
      /carries the marker of another Backend\/web \(UID other\).*--installation/,
    ],
    [
      'of another existing resource',
      'mine',
      NEIGHBOUR,
      /carries the marker of Backend shop\/neighbour.*from its status/,
    ],
    ['of another resource, with its status', NEIGHBOUR.uid, NEIGHBOUR, /carries the marker of Backend shop\/neighbour/],
  ])('%s is refused', (_title, seen, marker, words) => {
    const object = marked('bkdtg_1', marker)
    expect(() => refuseTaken(runWith(seen), object)).toThrow(words)
  })

  test.each([
    ['another resource', cr({ name: 'api', uid: 'other' }), undefined, /^bkdtg_1 is managed by Backend\/api: /],
    [
      'one of another namespace, which is not named',
      cr({ namespace: 'elsewhere', uid: 'other' }),
      undefined,
      /^bkdtg_1 is managed by a resource in another namespace: /,
    ],
    ['nobody else, once it carries our own mark', cr({ uid: 'other' }), { uid: 'mine' }, undefined],
    ['this one', cr(), undefined, undefined],
  ])('or without one is that of its holder: %s', (_title, holder, marker, words) => {
    const object = marker === undefined ? { id: 'bkdtg_1' } : marked('bkdtg_1', marker)
    const refused = (): unknown => refuseTaken(runWith('mine', holder), object)
    if (words === undefined) expect(refused()).toBe(object)
    else expect(refused).toThrow(words)
  })

  const noteOf = (uid: string, id: string, seal: string): Readonly<Record<string, string>> => {
    return { [REMOTE_ID]: `shop/${uid === 'mine' ? 'web' : 'api'}/${uid}/${id}/${seal}` }
  }
  test.each([
    ['another resource by its sealed note', {}, noteOf('other', 'bkdtg_1', 'sealed'), true],
    [
      'another by its note, while ours names another',
      noteOf('mine', 'bkdtg_2', 'x'),
      noteOf('other', 'bkdtg_1', 'y'),
      true,
    ],
    ['this one, whatever somebody notes without the key', {}, noteOf('other', 'bkdtg_1', 'made up'), false],
    ['this one by its own note', noteOf('mine', 'bkdtg_1', 'sealed'), noteOf('other', 'bkdtg_1', 'sealed'), false],
    ['this one, where a note was copied from another', {}, noteOf('mine', 'bkdtg_1', 'sealed'), false],
  ])('or without one, and whatever the status says, is that of %s', (_title, own, others, isRefused) => {
    const other = cr({ name: 'api', uid: 'other', annotations: others })
    const run = runWith('mine')
    Object.assign(run.context.resources, { noterOf: () => other })
    Object.assign(run, { cr: cr({ annotations: own }, run.status), session: { seal: () => 'sealed' } })
    const refused = (): unknown => refuseTaken(run, { id: 'bkdtg_1' })
    if (isRefused)
      expect(refused).toThrow(
        /^bkdtg_1 belongs to Backend\/api, according to its annotation internal.culvert.dev\/id: /,
      )
    else expect(refused()).toEqual({ id: 'bkdtg_1' })
  })

  test('is noted to be ours when it is, once', () => {
    for (const [seen, uid, notes] of [
      [undefined, 'mine', 1],
      ['former', 'mine', 1],
      ['mine', 'mine', 0],
      [undefined, 'other', 0],
    ] as const) {
      const run = runWith(seen)
      recordMarker(run, marked('bkdtg_1', { uid }))
      expect(run.noted).toHaveLength(notes)
    }
  })
})

describe('objects that may be of a former life', () => {
  const spec = { type: 'TunnelGroup', tunnelGroup: {}, rawMetadata: 'of web' }
  const objects = [
    marked('bkdtg_1', { installation: 'there' }),
    marked('bkdtg_2', { installation: 'there', name: 'api' }),
    marked('bkdtg_3'),
    { id: 'bkdtg_4', metadata: 'of web' },
    { id: 'bkdtg_5', metadata: 'of api' },
    { id: 'bkdtg_6', metadata: '', name: 'of web' },
  ]

  test('carry the marker of this name in another installation, or have the same text where a mark stands', () => {
    expect(alikeOf(objects, cr({}, {}, spec), 'metadata', 'here')).toEqual({
      elsewhere: [{ id: 'bkdtg_1', installation: 'there' }],
      unmarked: ['bkdtg_4'],
    })
    expect(alikeOf(objects, cr({}, {}, { ...spec, displayName: 'of web' }), 'name', 'here').unmarked).toEqual([
      'bkdtg_6',
    ])
  })

  test('are none where the user sets no text: every object without one would be', () => {
    for (const rawMetadata of [undefined, '']) {
      expect(alikeOf(objects, cr({}, {}, { ...spec, rawMetadata }), 'metadata', 'here').unmarked).toEqual([])
    }
  })
})

test.each([
  ['that has no object takes', {}, {}, ['bkdtg_1']],
  ['that has one does not take', {}, { id: 'bkdtg_2' }, []],
  ['that names the one it is to have does not take', { externalID: 'bkdtg_2' }, {}, []],
])('a resource %s what a former one of its name made', (_, spec, status, ids) => {
  const former = marked('bkdtg_1', { uid: 'other', installation: 'here' })
  const session = { cache: { find: () => [former] } }
  const run = { ...runWith(undefined), cr: cr({}, status, spec), status, session } as unknown as Reconciliation
  const found = recoverableObjects(run)
  expect(found.map(({ id }) => id)).toEqual(ids)
})

test.each([
  ['was found to have made nothing', { firstScanAt: 10 }],
  ['was refused', { voidAttempt: { nonce: 'bbbbbbbb', number: 1 } }],
])('what a former resource of this name made is taken after an attempt that %s', async (_, identity) => {
  const account = { kind: 'Account', name: 'default' } as const
  const attempt = formatAttempt({ uid: 'mine', number: 1, nonce: 'bbbbbbbb', account })
  const tried = cr({ annotations: { [CREATE_ATTEMPT]: attempt } })
  const former = marked('bkdtg_1', { uid: 'other' })
  const cache = {
    ensureListed: async () => undefined,
    find: (_collection: string, key: string) => (key === namesakeKey(nameOf(tried)) ? [former] : []),
  }
  const { context } = runWith(undefined)
  const run = {
    context: {
      ...context,
      clock: { monotonic: () => 100 },
      events: { record: () => undefined },
      leadership: { leadingSince: () => 0 },
      times: { requestTimeoutMs: 30, scanPauseMs: 5 },
    },
    cr: tried,
    descriptor: {},
    memory: { of: () => identity },
    recordObject: () => undefined,
    patchMetadata: async () => undefined,
    session: { access: { unmanagedObjects: 'Deny' }, cache },
    status: {},
  } as unknown as Reconciliation
  expect(await resolveIdentity(run)).toBe('bkdtg_1')
})
