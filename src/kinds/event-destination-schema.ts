import { Type } from 'typebox'
import { commonSpec, commonSpecRules, commonStatus, secretKeyRef } from '../managed/types/common.ts'
import { choice, object, text } from '../schema/define.ts'
import { defineKind, type SpecOf } from '../schema/definition.ts'
import { unionOf } from '../schema/rules.ts'
import { managedColumns, textColumn } from './columns.ts'
import { managedKind } from './names.ts'

const cloudName = (what: string) =>
  text({ description: `Cloud resource name (ARN) of the ${what}.`, minLength: 1, maxLength: 2048 })

const auth = object(
  {
    type: choice(['Role', 'AccessKey'], {
      description:
        'Role: the service assumes `role`. AccessKey: it uses the long-term key of `accessKey`, from a Secret.',
    }),
    role: Type.Optional(object({ roleARN: cloudName('role') }, { description: 'A role that the service assumes.' })),
    accessKey: Type.Optional(
      object(
        {
          accessKeyIDSecretRef: secretKeyRef('Key of a Secret with the id of the access key.'),
          secretAccessKeySecretRef: secretKeyRef('Key of a Secret with the secret access key.'),
        },
        { description: 'A long-term access key.' },
      ),
    ),
  },
  {
    description: 'How the service authenticates to the cloud.',
    rules: [unionOf('type', { Role: 'role', AccessKey: 'accessKey' })],
  },
)

const monitor = object(
  {
    apiKeySecretRef: secretKeyRef('Key of a Secret with the API key of the monitoring service.'),
    tags: Type.Optional(text({ description: 'Tags added to events. Default: none.', maxLength: 4096 })),
    service: Type.Optional(text({ description: 'Service name added to events. Default: none.', maxLength: 1024 })),
    site: Type.Optional(
      text({ description: 'Site of the monitoring service. Default: its main one.', maxLength: 1024 }),
    ),
  },
  { description: 'A monitoring service.' },
)

export const eventDestinationDefinition = defineKind({
  ...managedKind,
  kind: 'EventDestination',
  plural: 'eventdestinations',
  singular: 'eventdestination',
  shortNames: ['evdest'],
  scope: 'Namespaced',
  description:
    'A destination outside the service for account events. Nothing is sent there until an EventSubscription refers to it.',
  spec: object(
    {
      ...commonSpec('bytes'),
      format: Type.Optional(choice(['JSON'], { description: 'How events are written. Default: JSON.' })),
      type: choice(['Firehose', 'Kinesis', 'CloudWatchLogs', 'Monitor'], {
        description: 'Where events go; the field of the same name has the settings.',
      }),
      firehose: Type.Optional(
        object({ auth, deliveryStreamARN: cloudName('delivery stream') }, { description: 'A delivery stream.' }),
      ),
      kinesis: Type.Optional(object({ auth, streamARN: cloudName('stream') }, { description: 'A data stream.' })),
      cloudWatchLogs: Type.Optional(
        object({ auth, logGroupARN: cloudName('log group') }, { description: 'A log group.' }),
      ),
      monitor: Type.Optional(monitor),
    },
    {
      description: 'What the destination should be.',
      rules: [
        ...commonSpecRules,
        unionOf('type', {
          Firehose: 'firehose',
          Kinesis: 'kinesis',
          CloudWatchLogs: 'cloudWatchLogs',
          Monitor: 'monitor',
        }),
      ],
    },
  ),
  status: object(
    {
      ...commonStatus,
      targetType: Type.Optional(
        text({ description: 'Kind of target that the API has, by its own name for it.', maxLength: 255 }),
      ),
    },
    { description: 'The destination at the API.' },
  ),
  printerColumns: managedColumns(textColumn('Target', '.status.targetType', 'Kind of target that the API has.')),
})

export type EventDestinationSpec = SpecOf<typeof eventDestinationDefinition>
