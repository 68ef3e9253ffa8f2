import fc from 'fast-check'
import type { Body, Edit, ManagedKindTestData, Refusal } from '../kind-test-data.ts'
import { quiet } from './edits.ts'
import { refuse } from './refusals.ts'

type Member = 'secret' | 'configMap'

/** Each field of an output except the key of a token. */
export function outputSpecs(member: Member): readonly Body[] {
  const first = { labels: { team: 'edge' }, annotations: { 'example.com/reflect': 'true' } }
  const second = { labels: { team: 'core' }, annotations: { 'example.com/reflect': 'false' } }
  return [{}, first, second, {}].map((metadata, index) => {
    return { output: { [member]: { name: index < 2 ? 'PLACE-a' : 'PLACE-b', ...metadata } } }
  })
}

/** Edits of a kind with a token. */
export const tokenEdits: readonly Edit[] = quiet(
  ...outputSpecs('secret'),
  { output: { secret: { key: 'a' } } },
  { output: { secret: { key: 'b' } } },
  { output: { secret: { labels: { team: 'edge' } } } },
  { output: undefined },
  { rotation: { interval: '720h' } },
  { rotation: { interval: '1440h', overlap: '24h' } },
  { rotation: { interval: '1440h', overlap: '0s' } },
  { rotation: undefined },
)

/** Labels and annotations refused by every output. */
export function outputRefusals(member: Member): readonly Refusal[] {
  const rows = ['labels', 'annotations'].flatMap((field) => [
    [`${field} has a key under culvert.dev`, { [field]: { 'culvert.dev/mine': 'x' } }] as const,
    [`${field} has a key under culvert.dev`, { [field]: { 'internal.culvert.dev/id': 'x' } }] as const,
    [`names in ${field} must have at most 317 characters`, { [field]: { [`${'p'.repeat(317)}/a`]: 'x' } }] as const,
  ])
  const managedBy = { labels: { 'app.kubernetes.io/managed-by': 'me' } }
  return [...rows, ['labels has app.kubernetes.io/managed-by', managedBy] as const].map(([message, metadata], index) =>
    refuse(
      `with metadata of its ${member} that is not the user's, ${index}`,
      { output: { [member]: { name: 'a', ...metadata } } },
      message,
    ),
  )
}

/** Refused by both kinds of token. */
export const tokenRefusals: readonly Refusal[] = [
  ...outputRefusals('secret'),
  refuse('rotated all the time', { rotation: { interval: '0s' } }, 'interval must be from 1s to 87600h: write'),
  refuse(
    'rotated too late for anybody',
    { rotation: { interval: '87601h' } },
    'interval must be from 1s to 87600h: write',
  ),
  refuse(
    'with tokens that work on for longer than they are used',
    { rotation: { interval: '1h', overlap: '60m' } },
    'overlap must be less than interval: shorten',
  ),
  refuse(
    'with tokens that work on for ever',
    { rotation: { interval: '87600h', overlap: '87601h' } },
    'overlap must be from 0s to 87600h: write',
  ),
]

/** Valid labels and annotations of outputs. */
export function outputPlaces(...members: readonly Member[]): ManagedKindTestData['places'] {
  const keys = fc.constantFrom('team', 'example.com/sync', 'reloader.stakater.com/match')
  return Object.fromEntries(
    members.flatMap((member) =>
      ['labels', 'annotations'].map((field) => [
        `spec.output.${member}.${field}`,
        fc.dictionary(keys, fc.constantFrom('', 'true', 'edge'), { maxKeys: 3, noNullPrototype: true }),
      ]),
    ),
  )
}

/** No token is rotated during a test. */
export const rotationPlaces: ManagedKindTestData['places'] = {
  'spec.rotation.interval': fc.constantFrom('25h', '720h', '26h5m', '87600h'),
  'spec.rotation.overlap': fc.constantFrom('0s', '5m', '1h30m', '24h'),
}
