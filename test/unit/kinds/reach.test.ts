import fc from 'fast-check'
import { expect, test } from 'vitest'
import { kinds } from '../../../src/kinds/index.ts'
import type { CommonSpec } from '../../../src/managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../../../src/managed/descriptor/descriptor.ts'
import { planCreate, planUpdate } from '../../../src/managed/plan/plan.ts'
import type { SchemaNode } from '../../../src/schema/schema-node.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { anyObjects, desiredOf } from '../../builders/kinds/desired.ts'
import { type Spec, specsFrom } from '../../builders/schema-specs.ts'
import { testsOf } from '../../kinds/lookup.ts'

/** Constant, so that a failure can be repeated with the same specs. */
const seed = 20261121
const numRuns = 200

const managed = kinds.flatMap((descriptor) => {
  if (descriptor.role !== 'managed') return []
  return [{ kind: descriptor.definition.kind, descriptor, schema: toStructural(descriptor.definition.spec, 'spec') }]
})

/** The requests for a spec: to create an object, to change one that has nothing of it, and for its children. */
function requestsFor(descriptor: ManagedDescriptor, given: Spec): string {
  const spec = given as CommonSpec
  const input = (_source: string, { name, key }: { name: string; key: string }): string => `${name}/${key}`
  const desired = { ...desiredOf({ spec, objects: anyObjects }), input }
  const remote = { id: 'x_1', description: 'other', metadata: 'other' }
  const marked = desired.marker('marker', spec.metadata)
  const context = { markedMetadata: marked, inputsChanged: true }
  return JSON.stringify([
    descriptor.identity.collectionOf(spec).path,
    planCreate(descriptor, desired, marked),
    planUpdate(descriptor, desired, remote, context)?.body,
    descriptor.children?.plan(desired, remote.id, []),
  ])
}

/** The value with each text, number or boolean left out in turn, and the path of that part in the form of schemas. */
function* cuts(node: SchemaNode | undefined, value: unknown, path: string): Generator<readonly [string, unknown]> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      for (const [at, rest] of cuts(node?.items, item, `${path}[]`)) {
        yield [at, rest === undefined ? value.toSpliced(index, 1) : value.with(index, rest)]
      }
    }
    return
  }
  if (typeof value !== 'object' || value === null) {
    yield [path, undefined]
    return
  }
  for (const [name, member] of Object.entries(value)) {
    const field = node?.properties?.[name]
    const below = field ?? node?.additionalProperties
    for (const [at, rest] of cuts(below, member, field === undefined ? `${path}{}` : `${path}.${name}`)) {
      const { [name]: _left, ...others } = value as Spec
      yield [at, rest === undefined ? others : { ...value, [name]: rest }]
    }
  }
}

/** Paths of everything that `cuts` can leave out. */
function leavesOf(node: SchemaNode, path: string): readonly string[] {
  const fields = Object.entries(node.properties ?? {}).flatMap(([name, child]) => leavesOf(child, `${path}.${name}`))
  if (node.properties !== undefined) return fields
  if (node.items !== undefined) return leavesOf(node.items, `${path}[]`)
  if (node.additionalProperties !== undefined) return leavesOf(node.additionalProperties, `${path}{}`)
  return [node.type === 'object' ? `${path}{}` : path]
}

/** Whether the requests differ without the part. A spec without a required part is not sent at all. */
function matters(descriptor: ManagedDescriptor, spec: Spec, without: Spec): boolean {
  const whole = requestsFor(descriptor, spec)
  try {
    return requestsFor(descriptor, without) !== whole
  } catch {
    return true
  }
}

/** Fields that concern only the operator, and those with a single value, which they also have if omitted. */
const STAYS: readonly RegExp[] = [
  /^spec\.(accountRef\.(kind|name)|deletionPolicy|managementPolicy|externalID)$/,
  /^spec\.allowedReferences/,
  // Specs name objects of their own namespace in these places.
  /^spec\.(.*\.)?(.*Refs?(\[\])?|backend)\.namespace$/,
  /^spec\.output\./,
  /^spec\.dns\.(endpoint|recordTTL)$/,
  /^spec\.(allowEmpty|rulesSource|anyPrincipal|acknowledgeAPIRestriction)$/,
  /^spec\.(rotation\.(interval|overlap)|renewBefore)$/,
  /^spec\.(certificate\.managed\.authority|format)$/,
]

test.each(managed)('whatever a spec of $kind says stands in a request', ({ kind, descriptor, schema }) => {
  const silent = new Set(leavesOf(schema, 'spec').filter((path) => !STAYS.some((stays) => stays.test(path))))
  for (const spec of fc.sample(specsFrom(schema, testsOf(kind).places), { seed, numRuns })) {
    for (const [path, without] of cuts(schema, spec, 'spec')) {
      if (silent.has(path) && matters(descriptor, spec, without as Spec)) silent.delete(path)
    }
    if (silent.size === 0) break
  }
  expect([...silent]).toEqual([])
})
