import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { kinds } from '../../../../src/kinds/index.ts'
import { type Attempt, formatAttempt, parseAttempt } from '../../../../src/managed/attempt.ts'
import { hasFormerAttempt, ownAttempt, unresolvedAttempt } from '../../../../src/managed/cr.ts'
import {
  metadataProblems,
  OWN_METADATA_BYTES,
  type OwnMetadata,
  rawMetadataProblems,
} from '../../../../src/managed/descriptor/metadata.ts'
import { formatMarker, type Marker, mayHaveMade, parseMarker } from '../../../../src/managed/markers/marker.ts'
import { formatOwnership, isSealed, parseOwnership } from '../../../../src/managed/markers/sealed-note.ts'
import { Fingerprints } from '../../../../src/managed/run/fingerprints.ts'
import { cr, marked } from '../../../builders/custom-resource.ts'

const name = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?$/)
const nonce = fc.stringMatching(/^[0-9a-f]{32}$/)

const attempts: fc.Arbitrary<Attempt> = fc.record(
  {
    uid: fc.uuid(),
    number: fc.integer({ min: 1, max: 999_999_999 }),
    nonce,
    account: fc.record({ kind: fc.constantFrom('Account', 'ClusterAccount'), name }),
    modules: fc.uniqueArray(fc.stringMatching(/^[a-zA-Z]{1,20}$/), { minLength: 1, maxLength: 5 }),
  },
  { requiredKeys: ['uid', 'number', 'nonce', 'account'] },
)

const markers: fc.Arbitrary<Marker> = fc.record({
  installation: fc.string(),
  kind: fc.string(),
  namespace: fc.string(),
  name: fc.string(),
  uid: fc.string(),
  nonce: fc.string(),
})

/** Own keys of every kind: numbers, which objects put first, and names with a meaning in objects. */
const ownKeys: fc.Arbitrary<OwnMetadata> = fc
  .dictionary(
    fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('7', '__proto__', 'Culvert', 'a"b', 'toString')),
    fc.string({ unit: 'binary' }),
    { noNullPrototype: true },
  )
  .map(({ culvert: _, ...own }) => own)

/** Texts near the format, and any others. */
const texts = (format: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.tuple(format, fc.nat(), fc.string({ maxLength: 2 })).map(([text, at, put]) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + put + text.slice(place + 1)
    }),
  )

describe('attempts', () => {
  test('are read as they were written', () => {
    fc.assert(
      fc.property(attempts, (attempt) => {
        expect(parseAttempt(formatAttempt(attempt))).toEqual(attempt)
      }),
    )
  })

  test('are read from any text without harm, and mean what they say', () => {
    fc.assert(
      fc.property(texts(attempts.map(formatAttempt)), (text) => {
        const attempt = parseAttempt(text)
        if (attempt !== undefined) expect(formatAttempt(attempt)).toBe(text)
      }),
      { numRuns: 1000 },
    )
  })

  test('of another uid are not the resource’s own', () => {
    const copied = formatAttempt({
      uid: 'other',
      number: 1,
      nonce: 'abcdef01',
      account: { kind: 'Account', name: 'a' },
    })
    const resource = cr({ uid: 'mine', annotations: { 'internal.culvert.dev/create-attempt': copied } })
    expect(ownAttempt(resource)).toBeUndefined()
    expect(unresolvedAttempt(resource)).toBeUndefined()
    expect(hasFormerAttempt(resource)).toBe(true)
  })

  test('are open while their nonce is not the one in status', () => {
    const attempt = { uid: 'mine', number: 2, nonce: 'abcdef01', account: { kind: 'Account', name: 'a' } } as const
    const annotations = { 'internal.culvert.dev/create-attempt': formatAttempt(attempt) }
    const stored = (inStatus: string) =>
      cr({ uid: 'mine', annotations }, { internal: { create: { nonce: inStatus, attempt: 1 } } })
    expect(unresolvedAttempt(cr({ uid: 'mine', annotations }))).toEqual(attempt)
    expect(unresolvedAttempt(stored('00000000'))).toEqual(attempt)
    expect(unresolvedAttempt(stored('abcdef01'))).toBeUndefined()
    expect(hasFormerAttempt(stored('abcdef01'))).toBe(false)
  })
})

describe('markers', () => {
  test('are read as they were written, and equal markers are equal texts', () => {
    fc.assert(
      fc.property(markers, (marker) => {
        const text = formatMarker(marker)
        expect(parseMarker(text)).toEqual(marker)
        const reversed = Object.fromEntries(Object.entries(marker).reverse()) as unknown as Marker
        expect(formatMarker(reversed)).toBe(text)
      }),
    )
  })

  test('are found next to any keys of the user, in any order, and equal content is equal text', () => {
    fc.assert(
      fc.property(markers, ownKeys, (marker, own) => {
        const text = formatMarker(marker, own)
        expect(text.startsWith('{"culvert":')).toBe(true)
        expect(parseMarker(text)).toEqual(marker)
        const { culvert, ...found } = JSON.parse(text) as OwnMetadata
        expect(Object.entries(found).toSorted()).toEqual(Object.entries(own).toSorted())
        expect(formatMarker(marker, Object.fromEntries(Object.entries(own).reverse()))).toBe(text)
        const otherwise = JSON.stringify(Object.fromEntries([...Object.entries(found), ['culvert', culvert]]), null, 1)
        expect(parseMarker(otherwise)).toEqual(marker)
        expect(mayHaveMade({ metadata: text }, { id: 'x_1', metadata: otherwise })).toBe(true)
        const of = { ...marker, nonce: `${marker.nonce}1` }
        expect(mayHaveMade({ metadata: text }, { id: 'x_1', metadata: formatMarker(of, own) })).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  test('tell the answer to a create from that to another', () => {
    const { metadata } = marked('bkdtg_1')
    const answers = [marked('bkdtg_1'), marked('bkdtg_2', { nonce: 'b' }), { id: 'bkdtg_3', metadata: 'of web' }]
    expect(answers.map((answer) => mayHaveMade({ metadata }, answer))).toEqual([true, false, false])
    expect(answers.map((answer) => mayHaveMade({ metadata: 'of web' }, answer))).toEqual([true, true, true])
    expect(mayHaveMade({ name: metadata }, { id: 'bot_1', name: metadata })).toBe(true)
    expect(mayHaveMade({ name: metadata }, { id: 'bot_1', name: 'another' })).toBe(false)
    for (const shown of ['', '{}', 'of the service']) {
      expect(mayHaveMade({ name: metadata }, { id: 'bot_1', name: metadata, metadata: shown })).toBe(true)
    }
  })

  test('are read from any text without harm', () => {
    fc.assert(
      fc.property(texts(markers.map(formatMarker)), (text) => {
        const marker = parseMarker(text)
        if (marker === undefined) return
        for (const field of ['installation', 'kind', 'namespace', 'name', 'uid', 'nonce'] as const) {
          expect(typeof marker[field]).toBe('string')
        }
      }),
      { numRuns: 1000 },
    )
    for (const other of [undefined, null, 1, {}, []]) expect(parseMarker(other)).toBeUndefined()
  })

  test('no user may write one', () => {
    fc.assert(
      fc.property(markers, ownKeys, (any, own) => {
        expect(rawMetadataProblems('spec.rawMetadata', formatMarker(any, own))).toHaveLength(1)
      }),
    )
    for (const text of ['', 'culvert', '{"Culvert":{}}', '{"a":{"culvert":1}}', '["culvert"]', '{"culvert"']) {
      expect(rawMetadataProblems('spec.rawMetadata', text)).toEqual([])
    }
    expect(metadataProblems('spec.metadata', { culvert: '' })).toEqual([
      "spec.metadata: the key `culvert` is reserved for Culvert's marker: rename it",
    ])
  })

  test('fit into the 4096 bytes of any object together with the largest own keys', () => {
    const marker = {
      // The longest default; `--installation` only accepts shorter ones.
      installation: `11111111-2222-3333-4444-555555555555/${'n'.repeat(63)}/${'x'.repeat(253)}`,
      kind: kinds.map(({ definition: { kind } }) => kind).toSorted((a, b) => b.length - a.length)[0] ?? '',
      namespace: 'n'.repeat(63),
      name: 'x'.repeat(253),
      uid: '11111111-2222-3333-4444-555555555555',
      nonce: 'f'.repeat(32),
    }
    const beside = { a: 'ä'.repeat(1000), 'b"\\é': '"'.repeat(200), c: '' }
    const left =
      OWN_METADATA_BYTES - (Buffer.byteLength(formatMarker(marker, beside)) - Buffer.byteLength(formatMarker(marker)))
    const fullest = { ...beside, c: 'c'.repeat(left) }
    expect(metadataProblems('spec.metadata', fullest)).toEqual([])
    expect(Buffer.byteLength(formatMarker(marker, fullest))).toBeLessThanOrEqual(4096)
    expect(metadataProblems('spec.metadata', { ...beside, c: 'c'.repeat(left + 7) })).toEqual([
      `spec.metadata: has ${OWN_METADATA_BYTES + 7} bytes as JSON, but at most ${OWN_METADATA_BYTES} are allowed: shorten it`,
    ])
    fc.assert(
      fc.property(ownKeys, fc.nat({ max: 200 }), (own, most) => {
        const bytes = Buffer.byteLength(formatMarker(marker, own)) - Buffer.byteLength(formatMarker(marker))
        expect(metadataProblems('spec.metadata', own, most)).toHaveLength(bytes > most ? 1 : 0)
      }),
    )
  })
})

describe('ownership notes', () => {
  const fingerprints = new Fingerprints(Buffer.alloc(32, 1))
  const sealWith =
    (key: string, by = fingerprints) =>
    (text: string): string =>
      by.of('ownership', key, text)
  const seal = sealWith('key')
  const notes = fc.record({
    namespace: name,
    name,
    uid: fc.uuid(),
    id: fc.stringMatching(/^[a-z]+_[A-Za-z0-9]{1,27}$/),
  })

  test('are read as they were written', () => {
    fc.assert(
      fc.property(notes, (note) => {
        const read = parseOwnership(formatOwnership(note, seal))
        expect(read).toMatchObject(note)
        expect(read && isSealed(read, seal)).toBe(true)
        expect(read && isSealed(read, sealWith('another key'))).toBe(false)
        expect(read && isSealed(read, sealWith('key', new Fingerprints(Buffer.alloc(32, 2))))).toBe(false)
      }),
    )
  })

  test('are read from any text without harm, and mean what they say', () => {
    fc.assert(
      fc.property(texts(notes.map((note) => formatOwnership(note, seal))), (text) => {
        const note = parseOwnership(text)
        if (note !== undefined) expect(formatOwnership(note, () => note.seal)).toBe(text)
      }),
      { numRuns: 1000 },
    )
  })
})
