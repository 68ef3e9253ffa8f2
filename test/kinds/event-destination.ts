import type { Declared, Held, KeyRef, Resolved } from '../builders/declared/types.ts'
import type { Body, Edit, ManagedKindTestData } from './kind-test-data.ts'
import { keyOf, type SECRET, secretKeyRef } from './shared/account.ts'
import { asBody } from './shared/drifts.ts'
import { patch, quiet, story } from './shared/edits.ts'
import { bare, need, role, shownWorded, worded } from './shared/objects.ts'
import { grantRefusals, managedRefusals, refuse } from './shared/refusals.ts'
import { pick, textEdits, textRefusals, withTexts } from './shared/texts.ts'

type SecretKey = keyof typeof SECRET.values

const stream = { streamARN: 'arn:stream' }
const bySelf = (arn: string) => ({ type: 'Role', role: { roleARN: arn } })
const byKeys = (id: SecretKey, key: SecretKey) => ({
  type: 'AccessKey',
  accessKey: { accessKeyIDSecretRef: secretKeyRef(id), secretAccessKeySecretRef: secretKeyRef(key) },
})
const shownRole = (arn: string) => ({ role: { role_arn: arn }, creds: null })
const shownKeys = (id: string) => ({ role: null, creds: { cloud_access_key_id: id, cloud_secret_access_key: null } })
const shownSpecRole = shownRole(role.role.roleARN)

/** The target as the API shows it: all types but one are null. */
const shown = (target: Body): Body => ({
  target: { firehose: null, kinesis: null, cloudwatch_logs: null, monitor: null, ...target },
})
const monitor = (key: SecretKey, more: Body = {}): Body => ({
  type: 'Monitor',
  monitor: { apiKeySecretRef: secretKeyRef(key), ...more },
})
const shownMonitor = (monitortags: string | null, service: string | null, monitorsite: string | null): Body =>
  shown({ monitor: { api_key: null, monitortags, service, monitorsite } })

/** The body of an object that generated specs refer to. */
const kinesisBody = {
  format: 'json',
  target: { kinesis: { stream_arn: 'arn', auth: { role: { role_arn: 'arn' } } } },
}

/** Edits of a target in a cloud; the first removes `other`, the previous member. */
function cloudEdits(other: string, member: string, arn: string, name: string, shownArn: string): readonly Edit[] {
  const type = `${member.charAt(0).toUpperCase()}${member.slice(1)}`
  const to = (at: string, auth: Body, shownAuth: Body, more: Body = {}): Edit =>
    patch(
      'target',
      { ...more, type, [member]: { [arn]: `arn:${at}`, auth } },
      shown({ [name]: { [shownArn]: `arn:${at}`, auth: shownAuth } }),
    )
  const [a, b] = ['arn:role:a', 'arn:role:b'] as const
  return [
    to('a', bySelf(a), shownRole(a), { [other]: undefined }),
    to('b', bySelf(a), shownRole(a)),
    to('b', bySelf(b), shownRole(b)),
    to('b', byKeys('accessKeyID', 'secretAccessKey'), shownKeys('id-1')),
    to('b', byKeys('apiKey', 'secretAccessKey'), shownKeys('key-1')),
    to('b', byKeys('apiKey', 'accessKeyID'), shownKeys('key-1')),
    to('b', bySelf(b), shownRole(b)),
  ]
}

const authPlaces = (member: string): ManagedKindTestData['places'] => ({
  [`spec.${member}.auth.accessKey.accessKeyIDSecretRef`]: keyOf('one', 'two'),
  [`spec.${member}.auth.accessKey.secretAccessKeySecretRef`]: keyOf('one', 'two'),
})

export const eventDestination: ManagedKindTestData = {
  kind: 'EventDestination',
  accepted: { type: 'Monitor', monitor: { apiKeySecretRef: { name: 'monitor', key: 'key' } } },
  refusals: [
    ...managedRefusals,
    ...textRefusals,
    ...grantRefusals,
    refuse('without target', { monitor: undefined }, 'set the member for the type, and no other'),
    refuse(
      'with a target that the CRD does not know',
      { type: 'S3', monitor: undefined },
      'Unsupported value: "S3": supported values: ',
    ),
    refuse(
      'with two targets',
      { kinesis: { ...stream, auth: bySelf('arn:role') } },
      'firehose for Firehose, kinesis for Kinesis, cloudWatchLogs for CloudWatchLogs, monitor for Monitor',
    ),
    refuse(
      'with a cloud target that nobody signs in to',
      { type: 'Kinesis', monitor: undefined, kinesis: { ...stream, auth: { type: 'Role' } } },
      'set the member for the type, and no other: role for Role, accessKey for AccessKey',
    ),
  ],
  specs: {
    minimal: {
      spec: (name) => need.destination(name).spec,
      object: () => ({
        ...bare,
        format: 'json',
        ...shown({
          cloudwatch_logs: {
            auth: shownSpecRole,
            log_group_arn: 'arn:aws:logs:eu-central-1:123456789012:log-group:a',
          },
        }),
      }),
    },
    full: {
      spec: (name) => ({
        ...worded(name),
        format: 'JSON',
        type: 'Firehose',
        firehose: {
          deliveryStreamARN: 'arn:aws:firehose:eu-central-1:123456789012:deliverystream/a',
          auth: byKeys('accessKeyID', 'secretAccessKey'),
        },
      }),
      object: ({ name }) => ({
        ...shownWorded(name),
        format: 'json',
        ...shown({
          firehose: {
            auth: shownKeys('id-1'),
            delivery_stream_arn: 'arn:aws:firehose:eu-central-1:123456789012:deliverystream/a',
          },
        }),
      }),
      hidden: [['target.firehose.auth.creds.cloud_secret_access_key', 's-1']],
    },
    stream: {
      spec: () => ({
        type: 'Kinesis',
        kinesis: { streamARN: 'arn:aws:kinesis:eu-central-1:123456789012:stream/a', auth: role },
      }),
      object: () => ({
        ...bare,
        format: 'json',
        ...shown({
          kinesis: { auth: shownSpecRole, stream_arn: 'arn:aws:kinesis:eu-central-1:123456789012:stream/a' },
        }),
      }),
    },
    monitor: {
      spec: () => monitor('apiKey', { tags: 'team:edge', service: 'shop', site: 'eu.example.com' }),
      object: () => ({ ...bare, format: 'json', ...shownMonitor('team:edge', 'shop', 'eu.example.com') }),
      hidden: [['target.monitor.api_key', 'key-1']],
    },
  },
  edits: [
    story('sink', monitor('apiKey'), [
      ...textEdits,
      ...quiet({ format: 'JSON' }, { format: undefined }),
      patch('target', monitor('accessKeyID'), {}),
      patch('target', monitor('apiKey', { tags: 'a', service: 'b', site: 'c' }), shownMonitor('a', 'b', 'c')),
      patch('target', monitor('apiKey', { tags: 'd', service: 'e', site: 'f' }), shownMonitor('d', 'e', 'f')),
      patch('target', monitor('apiKey'), shownMonitor(null, null, null)),
      ...cloudEdits('monitor', 'firehose', 'deliveryStreamARN', 'firehose', 'delivery_stream_arn'),
      ...cloudEdits('firehose', 'kinesis', 'streamARN', 'kinesis', 'stream_arn'),
      ...cloudEdits('kinesis', 'cloudWatchLogs', 'logGroupARN', 'cloudwatch_logs', 'log_group_arn'),
      patch('target', { cloudWatchLogs: undefined, ...monitor('apiKey') }, shownMonitor(null, null, null)),
    ]),
  ],
  collections: {
    event_destinations: withTexts({
      samples: {
        format: pick('json', 'json'),
        target: (_world, variant) =>
          variant === 'first'
            ? {
                sent: { monitor: { api_key: 'k', monitortags: 'a:b', service: 's', monitorsite: 'eu' } },
                returned: shownMonitor('a:b', 's', 'eu').target,
              }
            : {
                sent: { kinesis: { auth: { role: { role_arn: 'arn:role' } }, stream_arn: 'arn:stream' } },
                returned: shown({ kinesis: { auth: shownRole('arn:role'), stream_arn: 'arn:stream' } }).target,
              },
      },
      drifts: { target: [({ target }) => ({ target: otherTarget(asBody(target)) })] },
      unchangeable: { format: { format: 'yaml' } },
      stranger: () => ({ format: 'json', target: { monitor: { api_key: 'k' } } }),
    }),
  },
  places: {
    ...authPlaces('firehose'),
    ...authPlaces('kinesis'),
    ...authPlaces('cloudWatchLogs'),
    'spec.monitor.apiKeySecretRef': keyOf('one', 'two'),
  },
  declares,
  referents: [
    ...['log', 'archive'].map((name) => ({
      collection: 'event_destinations',
      object: { id: `ed_${name}`, ...kinesisBody },
      resource: {
        name,
        spec: { type: 'Kinesis', kinesis: { streamARN: 'arn', auth: bySelf('arn') } },
      },
    })),
    { collection: 'event_destinations', object: { id: 'ed_watch', ...kinesisBody } },
  ],
}

/** The same type of target, with other values in all fields. */
function otherTarget(target: Body): Body {
  const auth = { role: { role_arn: 'arn:aws:iam::123456789012:role/other' } }
  if (target.firehose) {
    const delivery_stream_arn = 'arn:aws:firehose:eu-central-1:123456789012:deliverystream/b'
    return { firehose: { auth, delivery_stream_arn } }
  }
  if (target.kinesis) return { kinesis: { auth, stream_arn: 'arn:aws:kinesis:eu-central-1:123456789012:stream/b' } }
  if (target.cloudwatch_logs) {
    return { cloudwatch_logs: { auth, log_group_arn: 'arn:aws:logs:eu-central-1:123456789012:log-group:b' } }
  }
  return { monitor: { api_key: 'other', monitortags: 'other', service: 'other', monitorsite: 'other.example.com' } }
}

function declares(spec: Body, { stored }: Held, { input }: Resolved): readonly Declared[] {
  const auth = ({ role: by, accessKey }: Body): unknown => {
    if (by !== undefined) return ['role', (by as Body).roleARN]
    const { accessKeyIDSecretRef, secretAccessKeySecretRef } = accessKey as Body
    return ['creds', ...[accessKeyIDSecretRef, secretAccessKeySecretRef].map((ref) => input('Secret', ref as KeyRef))]
  }
  const heldAuth = (held: unknown): unknown => {
    const { role: by, creds } = (held ?? {}) as Readonly<Record<string, Body | null | undefined>>
    if (by) return ['role', by.role_arn]
    return ['creds', creds?.cloud_access_key_id, creds?.cloud_secret_access_key]
  }
  const target = stored.target as Readonly<Record<string, Body | null | undefined>>
  const clouds = [
    ['firehose', 'firehose', 'deliveryStreamARN', 'delivery_stream_arn'],
    ['kinesis', 'kinesis', 'streamARN', 'stream_arn'],
    ['cloudWatchLogs', 'cloudwatch_logs', 'logGroupARN', 'log_group_arn'],
  ] as const
  const parts = clouds.map(([field, name, arn, held]): Declared => {
    const [wanted, found] = [spec[field] as Body | undefined, target[name]]
    return [
      `target.${name}`,
      wanted && [wanted[arn], auth(wanted.auth as Body)],
      found ? [found[held], heldAuth(found.auth)] : undefined,
    ]
  })
  const wanted = spec.monitor as Body | undefined
  const found = target.monitor
  const textsOf = (...texts: readonly unknown[]) => texts.map((text) => text ?? '')
  return [
    ...parts,
    [
      'target.monitor',
      wanted && [
        input('Secret', wanted.apiKeySecretRef as KeyRef),
        ...textsOf(wanted.tags, wanted.service, wanted.site),
      ],
      found ? [found.api_key, ...textsOf(found.monitortags, found.service, found.monitorsite)] : undefined,
    ],
  ]
}
