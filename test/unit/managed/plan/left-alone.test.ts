import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RemoteObject } from '../../../../src/api/types.ts'
import { kinds } from '../../../../src/kinds/index.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import type { CommonSpec, CommonStatus, Fields } from '../../../../src/managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../../../../src/managed/descriptor/descriptor.ts'
import { appliedAfter, appliedBefore, decider, fieldsSet } from '../../../../src/managed/plan/left-alone.ts'
import { planUpdate } from '../../../../src/managed/plan/plan.ts'
import type { SchemaNode } from '../../../../src/schema/schema-node.ts'
import { toStructural } from '../../../../src/schema/structural.ts'
import { anyObjects, desiredOf } from '../../../builders/kinds/desired.ts'
import { specsOf } from '../../../kinds/lookup.ts'

const managed = kinds.filter((descriptor) => descriptor.role === 'managed')
const naming = { externalID: 'x_1', managementPolicy: 'Manage' } as const
const quiet = { markedMetadata: undefined, inputsChanged: false }
const adopted = (applied: readonly string[] = []): CommonStatus => ({
  id: 'x_1',
  adopted: true,
  internal: { create: { nonce: 'n', attempt: 0 }, applied: [...applied] },
})

function crOf(spec: CommonSpec): CustomResource {
  return {
    apiVersion: 'culvert.dev/v1alpha1',
    kind: 'Any',
    metadata: { name: 'any', uid: 'uid-1', resourceVersion: '1' },
    spec,
  }
}

function updateOf(descriptor: ManagedDescriptor, spec: CommonSpec, status: CommonStatus, remote: RemoteObject) {
  const decides = decider(descriptor, crOf(spec), () => status as CommonStatus & Fields)
  const desired = { ...desiredOf({ spec, status, objects: anyObjects }), decides }
  return { desired, body: planUpdate(descriptor, desired, remote, quiet)?.body ?? {} }
}

const someObject: RemoteObject = { id: 'x_2', domain: 'a.example.com', addr: '1.tcp.example.com:1' }

describe.each(managed.map((descriptor) => ({ kind: descriptor.definition.kind, descriptor })))(
  'an adopted $kind',
  ({ kind, descriptor }) => {
    const full = specsOf(kind)
      .find(({ title }) => title === 'full')
      ?.spec('any') as CommonSpec
    const required = new Set(toStructural(descriptor.definition.spec, 'spec').required)
    const optional = Object.keys(full).filter((field) => !required.has(field))

    function withOnly(fields: readonly string[]): CommonSpec {
      const kept = Object.entries(full).filter(([field]) => required.has(field) || fields.includes(field))
      return { ...Object.fromEntries(kept), ...naming } as CommonSpec
    }

    const subsets = fc.tuple(fc.subarray(optional), fc.subarray(optional))

    test('is sent what the spec sets alone, and then the defaults alone of what has left the spec', () => {
      fc.assert(
        fc.property(subsets, ([first, second]) => {
          const before = withOnly(first)
          if (!isWhole(before)) return
          const set = fieldsSet(descriptor, before)
          const adoption = updateOf(descriptor, before, { id: 'x_1' }, { id: 'x_1', description: 'of others' })
          expect(set).toEqual(
            expect.arrayContaining(Object.keys(adoption.body).filter((field) => field !== 'metadata')),
          )

          const after = withOnly(first.filter((field) => second.includes(field)))
          if (!isWhole(after)) return
          const equal = { ...adoption.body, id: 'x_1' }
          const left = updateOf(descriptor, after, adopted(set), equal)
          expect(set).toEqual(expect.arrayContaining(Object.keys(left.body).filter((field) => field !== 'metadata')))
          // A field removed from the spec returns to the value of a newly created object.
          const still = fieldsSet(descriptor, after)
          const defaults: Fields = { ...descriptor.fields.desire(left.desired, equal), description: '' }
          for (const [field, value] of Object.entries(left.body)) {
            if (field !== 'metadata' && !still.includes(field)) expect(value).toEqual(defaults[field])
          }
        }),
        { numRuns: 30 },
      )
    })

    /** Whether all references and inputs of the spec are present: a subset may break rules of the CRD. */
    function isWhole(spec: CommonSpec): boolean {
      try {
        descriptor.fields.desire(desiredOf({ spec, objects: anyObjects }), undefined)
        return true
      } catch {
        return false
      }
    }

    test('has every field of a full spec set by it', () => {
      const sent = Object.entries(descriptor.fields.desire(desiredOf({ spec: full, objects: anyObjects }), someObject))
      const missing = sent.filter(([, value]) => value !== undefined && value !== null).map(([field]) => field)
      const names = fieldsSet(descriptor, full)
      expect(missing.filter((field) => !names.includes(field))).toEqual([])
    })
  },
)

const [backend] = managed.filter(({ definition }) => definition.kind === 'Backend') as [ManagedDescriptor]
const group = (more: object = {}) => ({ type: 'TunnelGroup', tunnelGroup: {}, ...more }) as CommonSpec

test('of an object that Culvert created every field is decided', () => {
  const created: CommonStatus = { id: 'x_1', internal: { create: { nonce: 'n', attempt: 1 } } }
  const { body } = updateOf(backend, group(), created, { id: 'x_1', labels: { a: 'b' }, description: 'by hand' })
  expect(body).toMatchObject({ labels: {}, description: '' })
  expect(appliedAfter(backend, crOf(group()), created)).toEqual({})
})

test('what is noted before a write holds what was set and what is set now, and after it the latter alone', () => {
  const cr = { ...crOf(group({ ...naming, description: 'new' })), status: adopted(['labels']) } as CustomResource
  expect(appliedBefore(backend, cr, cr.status ?? {})).toEqual({ applied: ['description', 'labels'] })
  expect(appliedAfter(backend, cr, cr.status ?? {})).toEqual({ applied: ['description'] })
})

/**
 * Defaults of the CRDs that are not sent: the operator's own settings, acknowledgements, and the destinations of
 * outputs.
 */
const OWN_DEFAULTS = /(\.accountRef\.kind|\.allowEmpty|\.acknowledgeAPIRestriction|\.anyPrincipal|\.secretKey|\.key)$/

test('no field that is sent to the API has a default in its CRD', () => {
  const found = managed.flatMap(({ definition }) => {
    return defaultsIn(toStructural(definition.spec, 'spec'), `${definition.kind}.spec`)
  })
  expect(found.filter((path) => !OWN_DEFAULTS.test(path))).toEqual([])
})

function defaultsIn(node: SchemaNode, path: string): readonly string[] {
  const below = Object.entries(node.properties ?? {}).flatMap(([name, child]) => defaultsIn(child, `${path}.${name}`))
  const items = [node.items, node.additionalProperties].flatMap((child) =>
    child ? defaultsIn(child, `${path}[]`) : [],
  )
  return [...(node.default === undefined ? [] : [path]), ...below, ...items]
}
