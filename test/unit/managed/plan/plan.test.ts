import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RemoteObject } from '../../../../src/api/types.ts'
import { backend } from '../../../../src/kinds/backend.ts'
import { available, inCollection, plain } from '../../../../src/kinds/building-blocks/plain-kind.ts'
import type { CommonSpec, Fields } from '../../../../src/managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../../../../src/managed/descriptor/descriptor.ts'
import { formatMarker, markerOf } from '../../../../src/managed/markers/marker.ts'
import { type PlanContext, plan, planCreate } from '../../../../src/managed/plan/plan.ts'
import { desiredOf } from '../../../builders/kinds/desired.ts'

interface Spec extends CommonSpec {
  readonly fields: Fields
}

/**
 * A kind whose API fields are those of its spec: one each that occurs only in a create, only in an update, and only in
 * a Secret.
 */
const kind: ManagedDescriptor<Spec> = {
  ...plain,
  role: 'managed',
  reach: 'namespace',
  definition: backend.definition,
  identity: inCollection({ path: 'things', listKey: 'things' }),
  fields: {
    createOnly: ['region'],
    updateOnly: ['endpoint_id'],
    secret: ['secret'],
    open: [],
    setBy: ({ fields }) => Object.keys(fields),
    desire: ({ spec }) => spec.fields,
    observe: ({ region, endpoint_id, size, labels }) => ({ region, endpoint_id, size, labels }),
    comparable: ({ secret: _, ...fields }) => fields,
  },
  status: { shown: () => ({}), readiness: () => available('there') },
  manifest: { namedAfter: () => [], specOf: (remote) => ({ fields: remote }) },
}

const quiet: PlanContext = { markedMetadata: 'marker', inputsChanged: false }

function bodyOf(spec: Spec, remote: RemoteObject, context: Partial<PlanContext> = {}) {
  const [operation, ...others] = plan(kind, desiredOf({ spec }), { remote, children: [] }, { ...quiet, ...context })
  expect(others).toEqual([])
  return operation?.type === 'update' ? operation.body : undefined
}

const value = fc.constantFrom(null, 1, 2, 'x', '')
const fields = fc.record(
  {
    region: value,
    endpoint_id: value,
    size: value,
    labels: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('x', 'y')),
  },
  { requiredKeys: [] },
)
const specs: fc.Arbitrary<Spec> = fc.record(
  { fields, description: fc.constantFrom('', 'one', 'two'), rawMetadata: fc.constantFrom('', 'mine', '{"a":1}') },
  { requiredKeys: ['fields'] },
)
const remotes: fc.Arbitrary<RemoteObject> = fc
  .tuple(
    fields,
    fc.record(
      { description: fc.constantFrom(null, '', 'one'), metadata: fc.constantFrom(null, '', 'marker') },
      { requiredKeys: [] },
    ),
  )
  .map(([held, texts]) => ({ ...held, ...texts, id: 'x_1' }))

describe('an update', () => {
  test('applied as it is leaves nothing to do', () => {
    fc.assert(
      fc.property(specs, remotes, (spec, remote) => {
        const body = bodyOf(spec, remote)
        expect(bodyOf(spec, { ...remote, ...body })).toBeUndefined()
      }),
      { numRuns: 500 },
    )
  })

  test('carries what differs and nothing else, and never what is fixed at create', () => {
    fc.assert(
      fc.property(specs, remotes, (spec, remote) => {
        const body = bodyOf(spec, remote) ?? {}
        expect(body).not.toHaveProperty('region')
        for (const [name, sent] of Object.entries(body)) expect(sent).not.toEqual(remote[name])
      }),
    )
  })

  test('leaves alone what the kind does not speak of', () => {
    expect(bodyOf({ fields: { size: undefined } }, { id: 'x_1', size: 5, metadata: 'marker' })).toBeUndefined()
  })

  test('clears a description that is not wanted any more', () => {
    const remote = { id: 'x_1', description: 'old', metadata: 'marker' }
    expect(bodyOf({ fields: {} }, remote)).toEqual({ description: '' })
  })

  test('sends secrets again when they changed, and only then', () => {
    const remote = { id: 'x_1', metadata: 'marker' }
    const spec = { fields: { secret: 's3cret' } }
    expect(bodyOf(spec, remote, { inputsChanged: true })).toEqual({ secret: 's3cret' })
    expect(bodyOf({ fields: {} }, remote, { inputsChanged: true })).toBeUndefined()
  })
})

describe('metadata', () => {
  const remote = (metadata: string): RemoteObject => ({ id: 'x_1', metadata })
  const markedMetadata = '{"culvert":{"name":"web"},"team":"shop"}'

  test('are mark and own keys, unless the user asks for bytes', () => {
    expect(bodyOf({ fields: {} }, remote('marker'))).toBeUndefined()
    expect(bodyOf({ fields: {} }, remote('changed'))).toEqual({ metadata: 'marker' })
    expect(bodyOf({ fields: {}, rawMetadata: 'mine' }, remote('marker'))).toEqual({ metadata: 'mine' })
    expect(bodyOf({ fields: {}, rawMetadata: '' }, remote('marker'))).toEqual({ metadata: '' })
  })

  test('are compared by what the JSON means, but bytes to the byte', () => {
    for (const same of [markedMetadata, '{ "team": "shop",\n "culvert": {"name": "web"} }']) {
      expect(bodyOf({ fields: {} }, remote(same), { markedMetadata })).toBeUndefined()
    }
    for (const other of ['{"culvert":{"name":"web"}}', '{"culvert":{"name":"web"},"team":"shop","a":1}', '', '[]']) {
      expect(bodyOf({ fields: {} }, remote(other), { markedMetadata })).toEqual({ metadata: markedMetadata })
    }
    expect(bodyOf({ fields: {}, rawMetadata: '{"a":1}' }, remote('{"a": 1}'))).toEqual({ metadata: '{"a":1}' })
  })

  describe('of an object that Culvert did not make', () => {
    const foreign = { markedMetadata: undefined }
    const marker = { installation: 'i', kind: 'Backend', namespace: 'shop', name: 'web', uid: 'u', nonce: 'a' }

    test('are left alone where the spec sets nothing', () => {
      for (const metadata of [undefined, {}]) {
        const spec = { fields: {}, ...(metadata === undefined ? {} : { metadata }) }
        for (const theirs of ['theirs', '', '{"a":1}']) expect(bodyOf(spec, remote(theirs), foreign)).toBeUndefined()
      }
    })

    test('get the keys that the spec names, and keep all others as they are written', () => {
      const spec = { fields: {}, metadata: { team: 'shop', b: '2' } }
      const theirs = '{"size": 12345678901234567890, "team": "net", "1": {"deep": [1.50]}}'
      const { metadata } = bodyOf(spec, remote(theirs), foreign) ?? {}
      expect(metadata).toBe('{"1":{"deep":[1.50]},"size":12345678901234567890,"team":"shop","b":"2"}')
      expect(bodyOf(spec, remote(String(metadata)), foreign)).toBeUndefined()
      expect(bodyOf(spec, remote('{"b": "2", "team": "shop", "c": 3}'), foreign)).toBeUndefined()
    })

    test('give way to these keys where they are no JSON object', () => {
      for (const theirs of ['theirs', '', '[1]', 'null', '"a"']) {
        const body = bodyOf({ fields: {}, metadata: { team: 'shop' } }, remote(theirs), foreign)
        expect(body).toEqual({ metadata: '{"team":"shop"}' })
      }
    })

    test('never gain a mark, nor lose one', () => {
      fc.assert(
        fc.property(fc.json(), fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }), (theirs, own) => {
          const { culvert: _, ...metadata } = own
          const body = bodyOf({ fields: {}, metadata }, remote(theirs), foreign)
          const text = String(body?.metadata ?? theirs)
          expect(markerOf(remote(text))).toEqual(markerOf(remote(theirs)))
          expect(bodyOf({ fields: {}, metadata }, remote(text), foreign)).toBeUndefined()
          const found = JSON.parse(text) as Fields
          for (const [key, value] of Object.entries(metadata)) expect(found[key]).toBe(value)
          const former = formatMarker(marker, { team: 'net' })
          const after = bodyOf({ fields: {}, metadata }, remote(former), foreign)?.metadata ?? former
          expect(markerOf(remote(String(after)))).toEqual(marker)
        }),
      )
    })
  })
})

test('a create carries the marker, every field that has a value, and nothing that only an update knows', () => {
  fc.assert(
    fc.property(specs, (spec) => {
      const body = planCreate(kind, desiredOf({ spec }), 'marker')
      expect(body.metadata).toBe('marker')
      expect(body).not.toHaveProperty('endpoint_id')
      expect(Object.values(body)).not.toContain(null)
      expect(Object.values(body)).not.toContain(undefined)
      for (const name of ['region', 'size', 'labels']) {
        if (spec.fields[name] !== undefined && spec.fields[name] !== null) expect(body[name]).toEqual(spec.fields[name])
      }
      expect(body.description).toBe(spec.description || undefined)
    }),
  )
})
