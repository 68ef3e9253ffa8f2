import { Type } from 'typebox'
import { bytesText, choice, integer, list, object, stringMap, text, timestamp } from '../../src/schema/define.ts'
import { defineKind } from '../../src/schema/definition.ts'
import { exactlyOne, fixedField, fixedOnceSet } from '../../src/schema/rules.ts'

const port = integer({ description: 'The port.', minimum: 1, maximum: 65535 })

const condition = object(
  {
    type: text({ description: 'What it is about.', maxLength: 316 }),
    status: choice(['True', 'False', 'Unknown'], { description: 'Whether it holds.' }),
    lastTransitionTime: timestamp({ description: 'When the status last changed.' }),
  },
  { description: 'One condition.' },
)
const conditions = list(condition, { description: 'What holds.', maxItems: 16, listType: 'map', mapKeys: ['type'] })

/** A kind with one field of every sort, for tests of code generated from definitions. */
export const sampleKind = defineKind({
  group: 'culvert.dev',
  version: 'v1alpha1',
  kind: 'Sample',
  plural: 'samples',
  singular: 'sample',
  shortNames: ['smp'],
  categories: ['culvert'],
  scope: 'Namespaced',
  description: 'A sample shows every sort of field. It does nothing else.',
  spec: object(
    {
      region: Type.Optional(choice(['us', 'eu'], { description: 'Where it is served.', default: 'us' })),
      namespace: Type.Optional(text({ description: 'A name that CEL reserves.', maxLength: 63 })),
      description: Type.Optional(bytesText('description', 255, { description: 'Free text.' })),
      key: Type.Optional(text({ description: 'The key.', maxLength: 64, pattern: '^[a-z]+$' })),
      hostports: list(
        object(
          {
            host: Type.Optional(text({ description: 'The host.', maxLength: 253 })),
            reservedDomain: Type.Optional(text({ description: 'Name of a ReservedDomain.', maxLength: 253 })),
            port: port,
          },
          { description: 'A place to listen.', rules: [exactlyOne(['host', 'reservedDomain'])] },
        ),
        { description: 'Endpoints on which the edge listens.', minItems: 1, maxItems: 8 },
      ),
      labels: Type.Optional(
        stringMap(text({ description: 'The value.', maxLength: 63 }), { description: 'Labels.', maxProperties: 4 }),
      ),
    },
    { description: 'What the sample should be.', rules: [fixedField('region'), fixedOnceSet('namespace')] },
  ),
  status: object(
    {
      id: Type.Optional(text({ description: 'Id at the API.', maxLength: 64 })),
      conditions: Type.Optional(conditions),
    },
    { description: 'What the sample is.' },
  ),
  printerColumns: [
    { name: 'ID', type: 'string', jsonPath: '.status.id', description: 'The id at the API.', priority: 1 },
    {
      name: 'Ready',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].status',
      description: 'Whether it can be used.',
    },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'When it was made.' },
  ],
  selectableFields: ['.status.id', '.spec.region'],
  conditions: [{ type: 'Ready', description: 'The sample can be used.' }],
  replacing: ['key'],
})
