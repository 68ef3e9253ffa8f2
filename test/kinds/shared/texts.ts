import type { CollectionTestData, Edit, MakeSample, Refusal, Sample } from '../kind-test-data.ts'
import { patch } from './edits.ts'
import { mark, markBeside } from './objects.ts'
import { refuse } from './refusals.ts'

export const BY_HAND = 'changed by hand'

/** A sample that every response shows as it was sent. */
export const same = (value: unknown): Sample => ({ sent: value, returned: value })
export const pick =
  (first: unknown, second: unknown): MakeSample =>
  (_world, variant) =>
    same(variant === 'first' ? first : second)

/** Description and metadata, which the objects of all kinds but bots have. */
export const texts: CollectionTestData = {
  samples: {
    description: pick('first description', 'second description, ünïcode'),
    metadata: pick('{"first":1}', ' any bytes\n\t"second" '),
  },
  drifts: { description: [() => ({ description: BY_HAND })], metadata: [() => ({ metadata: BY_HAND })] },
}

/** The same with the fields of a collection's own. */
export function withTexts({ samples = {}, drifts = {}, ...rest }: Partial<CollectionTestData>): CollectionTestData {
  return { samples: { ...texts.samples, ...samples }, drifts: { ...texts.drifts, ...drifts }, ...rest }
}

export const textEdits: readonly Edit[] = [
  patch('description', { description: 'first' }, { description: 'first' }),
  patch('description', { description: 'second é' }, { description: 'second é' }),
  patch('description', { description: undefined }, { description: '' }),
  patch('metadata', { metadata: { team: 'shop' } }, { metadata: markBeside('"team":"shop"') }),
  patch('metadata', { metadata: { team: 'net', a: '' } }, { metadata: markBeside('"a":"","team":"net"') }),
  patch('metadata', { metadata: undefined, rawMetadata: 'mine' }, { metadata: 'mine' }),
  patch('metadata', { rawMetadata: '{"mine":2}' }, { metadata: '{"mine":2}' }),
  patch('metadata', { rawMetadata: undefined }, { metadata: mark }),
]

/** 255 characters, and more bytes. */
export const LONG = `${'a'.repeat(254)}ä`

/** Refused by every kind with `metadata`. */
export const metadataRefusals: readonly Refusal[] = [
  refuse(
    'with metadata of two kinds',
    { metadata: { team: 'shop' }, rawMetadata: 'shop' },
    'set at most one of metadata, rawMetadata',
  ),
  refuse('with a mark in its metadata', { metadata: { culvert: '' } }, 'metadata has the key culvert'),
  refuse('with an empty key of metadata', { metadata: { '': 'shop' } }, 'metadata has a key that is empty'),
  refuse(
    'with 3073 bytes of metadata',
    { metadata: { a: 'a'.repeat(2000), b: `${'a'.repeat(1057)}ä` } },
    'metadata must have at most 3072 bytes in total',
  ),
]

/** The same, and by kinds whose texts have limits in bytes. */
export const textRefusals: readonly Refusal[] = [
  refuse('with a description of 256 bytes', { description: LONG }, 'description must have at most 255 bytes'),
  refuse(
    'with raw metadata of 4097 bytes',
    { rawMetadata: `${'a'.repeat(4095)}ä` },
    'rawMetadata must have at most 4096 bytes',
  ),
  ...metadataRefusals,
]
