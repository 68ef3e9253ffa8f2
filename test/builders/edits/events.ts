import { expect } from 'vitest'
import { refTo } from '../expected.ts'
import { SECRET } from '../specs.ts'
import { type Body, type Edit, type EditStory, patch, quiet, sets, story, texts } from './edit.ts'

const noTarget = { firehose: null, kinesis: null, cloudwatch_logs: null, monitor: null }
const role = (name: string) => ({ type: 'Role', role: { roleARN: `arn:role:${name}` } })
const keys = (id: string, key: string) => ({
  type: 'AccessKey',
  accessKey: {
    accessKeyIDSecretRef: { name: SECRET.name, key: id },
    secretAccessKeySecretRef: { name: SECRET.name, key },
  },
})
const shownRole = (name: string) => ({ role: { role_arn: `arn:role:${name}` }, creds: null })
const shownKeys = (id: string) => ({ role: null, creds: { cloud_access_key_id: id, cloud_secret_access_key: null } })

/** Edits of a target in a cloud; the first removes `other`, the previous member. */
function cloudTarget(other: string, member: string, arn: string, shown: string, shownArn: string): readonly Edit[] {
  const type = `${member.charAt(0).toUpperCase()}${member.slice(1)}`
  const spec = (name: string, auth: Body): Body => ({ type, [member]: { [arn]: `arn:${name}`, auth } })
  const target = (name: string, auth: Body): Body => ({
    target: { ...noTarget, [shown]: { [shownArn]: `arn:${name}`, auth } },
  })
  return [
    patch('target', { [other]: undefined, ...spec('a', role('a')) }, target('a', shownRole('a'))),
    patch('target', spec('b', role('a')), target('b', shownRole('a'))),
    patch('target', spec('b', role('b')), target('b', shownRole('b'))),
    patch('target', spec('b', keys('accessKeyID', 'secretAccessKey')), target('b', shownKeys('id-1'))),
    patch('target', spec('b', keys('apiKey', 'secretAccessKey')), target('b', shownKeys('key-1'))),
    patch('target', spec('b', keys('apiKey', 'accessKeyID')), target('b', shownKeys('key-1'))),
    patch('target', spec('b', role('b')), target('b', shownRole('b'))),
  ]
}

const monitor = (key: string, more: Body = {}): Body => ({
  type: 'Monitor',
  monitor: { apiKeySecretRef: { name: SECRET.name, key }, ...more },
})
const shownMonitor = (monitortags: string | null, service: string | null, monitorsite: string | null): Body => ({
  target: { ...noTarget, monitor: { api_key: null, monitortags, service, monitorsite } },
})

/** Edits of destinations and subscriptions. */
export const eventStories: readonly EditStory[] = [
  story('EventDestination', 'sink', monitor('apiKey'), [
    ...texts,
    ...quiet({ format: 'JSON' }, { format: undefined }),
    patch('target', monitor('accessKeyID'), {}),
    patch('target', monitor('apiKey', { tags: 'a', service: 'b', site: 'c' }), shownMonitor('a', 'b', 'c')),
    patch('target', monitor('apiKey', { tags: 'd', service: 'e', site: 'f' }), shownMonitor('d', 'e', 'f')),
    patch('target', monitor('apiKey'), shownMonitor(null, null, null)),
    ...cloudTarget('monitor', 'firehose', 'deliveryStreamARN', 'firehose', 'delivery_stream_arn'),
    ...cloudTarget('firehose', 'kinesis', 'streamARN', 'kinesis', 'stream_arn'),
    ...cloudTarget('kinesis', 'cloudWatchLogs', 'logGroupARN', 'cloudwatch_logs', 'log_group_arn'),
    patch('target', { cloudWatchLogs: undefined, ...monitor('apiKey') }, shownMonitor(null, null, null)),
  ]),
  story(
    'EventSubscription',
    'subscription',
    { sources: [{ type: 'ip_policy_created.v0' }], destinationRefs: [{ name: 'log' }] },
    [
      ...texts,
      patch(
        'sources',
        { sources: [{ type: 'a.v1' }, { type: 'b.v2' }] },
        {
          sources: sets(['a.v1', 'b.v2'].map((type) => ({ type, uri: expect.stringContaining(`/sources/${type}`) }))),
        },
      ),
      ...quiet({ sources: [{ type: 'b.v2' }, { type: 'a.v1' }] }),
      patch('destination_ids', { destinationRefs: [{ name: 'archive' }] }, (id) => ({
        destinations: [refTo(id('EventDestination', 'archive'))],
      })),
    ],
  ),
]
