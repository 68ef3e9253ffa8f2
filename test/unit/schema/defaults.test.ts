import { expect, test } from 'vitest'
import { withDefaults } from '../../../src/schema/admission.ts'

const text = { type: 'string' } as const
const node = {
  type: 'object',
  properties: {
    description: text,
    replicas: { type: 'integer', default: 1 },
    labels: { type: 'object', additionalProperties: text },
    hosts: { type: 'array', items: text },
  },
} as const

test('a field that is null counts as absent, as does an entry of a map, but not an item of a list', () => {
  const nulls = { description: null, replicas: null, labels: { app: null, team: 'edge' }, hosts: [null] }
  expect(withDefaults(node, nulls)).toEqual({ replicas: 1, labels: { team: 'edge' }, hosts: [null] })
})

test('a null in a field that the schema lacks stays, so that the field is reported', () => {
  expect(withDefaults(node, { desciption: null })).toEqual({ desciption: null, replicas: 1 })
})
