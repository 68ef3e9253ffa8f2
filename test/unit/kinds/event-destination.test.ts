import { expect, test } from 'vitest'
import { eventDestination } from '../../../src/kinds/event-destination.ts'
import type { EventDestinationSpec } from '../../../src/kinds/events/destination-schema.ts'
import { plan } from '../../../src/managed/plan/plan.ts'
import { stored } from '../../builders/kinds/api-model.ts'
import { desiredOf } from '../../builders/kinds/desired.ts'

const accessKey = {
  accessKeyIDSecretRef: { name: 'cloud', key: 'id' },
  secretAccessKeySecretRef: { name: 'cloud', key: 'secret' },
}
const spec: EventDestinationSpec = {
  type: 'Kinesis',
  kinesis: { streamARN: 'arn:stream', auth: { type: 'AccessKey', accessKey } },
}
const desired = desiredOf({ spec })
const sent = {
  kinesis: {
    stream_arn: 'arn:stream',
    auth: { creds: { cloud_access_key_id: 'cloud/id', cloud_secret_access_key: 'cloud/secret' } },
  },
}

test('the target is the one member that the spec has, with the values of its Secrets', () => {
  expect(eventDestination.fields.desire(desired, undefined)).toEqual({ format: 'json', target: sent })
  expect(eventDestination.inputs?.of(spec).map(({ path }) => path)).toEqual([
    'spec.kinesis.auth.accessKey.accessKeyIDSecretRef',
    'spec.kinesis.auth.accessKey.secretAccessKeySecretRef',
  ])
})

test('an empty text of a monitor is none', () => {
  const apiKeySecretRef = { name: 'm', key: 'k' }
  const sentFor = (monitor: NonNullable<EventDestinationSpec['monitor']>) =>
    eventDestination.fields.desire(desiredOf<EventDestinationSpec>({ spec: { type: 'Monitor', monitor } }), undefined)
  expect(sentFor({ apiKeySecretRef, tags: '', service: '', site: '' })).toEqual(sentFor({ apiKeySecretRef }))
})

test('the target is sent again when a Secret changes, and only then', () => {
  const remote = stored({ format: 'JSON', target: sent, description: '', metadata: 'marker' })
  const planned = (inputsChanged: boolean) =>
    plan(eventDestination, desired, { remote, children: [] }, { markedMetadata: 'marker', inputsChanged })
  expect(planned(false)).toEqual([])
  expect(planned(true)).toEqual([{ type: 'update', body: { target: sent }, fields: ['target'], alternatives: [] }])
})

test('no secret is ever among what is compared', () => {
  expect(JSON.stringify(eventDestination.fields.comparable({ target: sent }))).not.toContain('cloud/secret')
  const monitor = desiredOf<EventDestinationSpec>({
    spec: { type: 'Monitor', monitor: { apiKeySecretRef: { name: 'm', key: 'k' } } },
  })
  expect(
    JSON.stringify(eventDestination.fields.comparable(eventDestination.fields.desire(monitor, undefined))),
  ).not.toContain('m/k')
})

test('the id of the access key is compared unless the API hides it', () => {
  const hiding = { id: 'ed_1', target: { kinesis: { auth: { creds: { cloud_access_key_id: null } } } } }
  const showing = { id: 'ed_1', target: { kinesis: { auth: { creds: { cloud_access_key_id: 'other' } } } } }
  expect(JSON.stringify(eventDestination.fields.comparable({ target: sent }, showing))).toContain('cloud/id')
  expect(JSON.stringify(eventDestination.fields.comparable({ target: sent }, hiding))).not.toContain('cloud/id')
})

test.each(['AKIA****', 'AKIA…WXYZ', '[hidden]', 'AKIAXXXXXXXXWXYZ', '****************'])(
  'the id of the access key is not compared where the API masks it: %s',
  (masked) => {
    const auth = { creds: { cloud_access_key_id: masked, cloud_secret_access_key: null } }
    const remote = stored({
      format: 'json',
      target: { kinesis: { stream_arn: 'arn:stream', auth } },
      description: '',
      metadata: 'marker',
    })
    const context = { markedMetadata: 'marker', inputsChanged: false }
    expect(plan(eventDestination, desired, { remote, children: [] }, context)).toEqual([])
  },
)

test('a target that Culvert does not know is shown by the API’s name for it', () => {
  expect(eventDestination.status.shown({ id: 'ed_1', target: { firehose: null, s3: { bucket: 'b' } } }, {})).toEqual({
    targetType: 's3',
  })
})

test('a destination without the member of its type is not sent', () => {
  const members: readonly EventDestinationSpec[] = [
    { type: 'Firehose', kinesis: { streamARN: 'arn:stream', auth: { type: 'AccessKey', accessKey } } },
    { type: 'Kinesis' },
    { type: 'Kinesis', kinesis: { streamARN: 'arn:stream', auth: { type: 'Role' } } },
    { type: 'CloudWatchLogs' },
    { type: 'Monitor' },
  ]
  for (const each of members) {
    expect(() => eventDestination.fields.desire(desiredOf({ spec: each }), undefined)).toThrow(
      expect.objectContaining({ code: 'MISSING_MEMBER' }),
    )
  }
})
