import { Type } from 'typebox'
import { commonSpec, commonSpecRules, commonStatus, secretKeyRef } from '../../managed/descriptor/common.ts'
import { sharing } from '../../managed/descriptor/grant.ts'
import { choice, object, text } from '../../schema/define.ts'
import { defineKind, type SpecOf } from '../../schema/definition.ts'
import { unionOf } from '../../schema/rules.ts'
import { managedColumns, textColumn } from '../building-blocks/columns.ts'
import { managedKind } from '../building-blocks/plain-kind.ts'

const cloudName = (what: string) =>
  text({
    description: `Cloud resource name (ARN) of the ${what}, at most 2048 characters.`,
    minLength: 1,
    maxLength: 2048,
  })

const auth = object(
  {
    type: choice(['Role', 'AccessKey'], {
      description:
        'Role: the service assumes `role`. AccessKey: it uses the long-term access key from the Secrets that `accessKey` names.',
    }),
    role: Type.Optional(object({ roleARN: cloudName('role') }, { description: 'A role that the service assumes.' })),
    accessKey: Type.Optional(
      object(
        {
          accessKeyIDSecretRef: secretKeyRef(
            'Key of a Secret with the id of the access key. One line; a line break at its end is not sent. Changes to the Secret are applied.',
          ),
          secretAccessKeySecretRef: secretKeyRef(
            'Key of a Secret with the secret access key. One line; a line break at its end is not sent. Changes to the Secret are applied.',
          ),
        },
        { description: 'A long-term access key. Both parts come from Secrets.' },
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
    apiKeySecretRef: secretKeyRef(
      'Key of a Secret with the API key of the monitoring service. One line; a line break at its end is not sent. Changes to the Secret are applied.',
    ),
    tags: Type.Optional(
      text({ description: 'Tags added to events, at most 4096 characters. Default: none.', maxLength: 4096 }),
    ),
    service: Type.Optional(
      text({ description: 'Service name added to events, at most 1024 characters. Default: none.', maxLength: 1024 }),
    ),
    site: Type.Optional(
      text({
        description:
          'Site of the monitoring service that events go to, at most 1024 characters. Default: none; the service chooses.',
        maxLength: 1024,
      }),
    ),
  },
  { description: 'Settings of Monitor: a monitoring service.' },
)

export const eventDestinationDefinition = defineKind({
  ...managedKind,
  kind: 'EventDestination',
  plural: 'eventdestinations',
  singular: 'eventdestination',
  shortNames: ['evdest'],
  scope: 'Namespaced',
  description:
    'A destination outside the service for the events of the account. Nothing is sent there until an EventSubscription refers to it.',
  spec: object(
    {
      ...commonSpec('bytes'),
      ...sharing,
      format: Type.Optional(choice(['JSON'], { description: 'How events are encoded. Default: JSON.' })),
      type: choice(['Firehose', 'Kinesis', 'CloudWatchLogs', 'Monitor'], {
        description: 'Where events go; the field of the same name has the settings. Can be changed.',
      }),
      firehose: Type.Optional(
        object(
          { auth, deliveryStreamARN: cloudName('delivery stream') },
          { description: 'Settings of Firehose: a delivery stream.' },
        ),
      ),
      kinesis: Type.Optional(
        object({ auth, streamARN: cloudName('stream') }, { description: 'Settings of Kinesis: a data stream.' }),
      ),
      cloudWatchLogs: Type.Optional(
        object(
          { auth, logGroupARN: cloudName('log group') },
          { description: 'Settings of CloudWatchLogs: a log group.' },
        ),
      ),
      monitor: Type.Optional(monitor),
    },
    {
      description: 'Desired state of the destination.',
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
        text({ description: 'Where events go, as the API names it, such as `kinesis`.', maxLength: 255 }),
      ),
    },
    { description: 'Observed state of the destination.' },
  ),
  printerColumns: managedColumns(textColumn('Target', '.status.targetType', 'Where events go, as the API names it.')),
})

export type EventDestinationSpec = SpecOf<typeof eventDestinationDefinition>
