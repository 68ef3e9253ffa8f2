import { describe, expect, test } from 'vitest'
import { kinds } from '../../../../src/kinds/index.ts'
import type { KubeObject } from '../../../../src/kube/types.ts'
import type { Course, Step } from '../../../../src/managed/composed/composition.ts'
import { bodyOf } from '../../../../src/managed/composed/wanted.ts'
import { KindsRegistry } from '../../../../src/managed/kinds-registry.ts'
import type { Resources } from '../../../../src/managed/run/context.ts'
import { composeService } from '../../../../src/managed/services/compose.ts'
import { roleOf, serviceObjects } from '../../../../src/managed/services/objects.ts'
import type { ServiceResource } from '../../../../src/managed/services/service.ts'

const registry = new KindsRegistry(kinds)
const POLICY = { maxPorts: 16 }

function service(annotations: Readonly<Record<string, string>> = {}, ports = [80]): ServiceResource {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop', uid: 'uid-1', resourceVersion: '1', annotations },
    spec: {
      type: 'LoadBalancer',
      loadBalancerClass: 'culvert.dev/edge',
      ports: ports.map((port) => ({ port })),
    },
  }
}

/** What the Service would own, as the API server stores it. */
function stored(of: ServiceResource, more: object = {}): readonly KubeObject[] {
  const objects = serviceObjects(of, POLICY, (kind) => registry.resourceType(kind))
  if ('refused' in objects) throw new Error(objects.refused.join())
  return objects.ports
    .flatMap((port) => port.objects)
    .map((wanted) => {
      const { metadata, ...body } = bodyOf(of, wanted)
      const { name } = wanted
      const whole = { ...metadata, namespace: 'shop', name, uid: name, resourceVersion: '1', ...more }
      return { ...body, apiVersion: 'culvert.dev/v1alpha1', kind: wanted.type.kind, metadata: whole }
    })
}

function compose(of: ServiceResource, exists: readonly KubeObject[]) {
  const known: Partial<Resources> = {
    get: () => undefined,
    accountKeyOf: () => ({ kind: 'Account', namespace: 'shop', name: 'default' }),
    referrersOf: () => [],
  }
  return composeService(of, POLICY, {
    kinds: registry,
    resources: known as Resources,
    parts: exists.map((each) => ({ type: registry.resourceType(each.kind), role: roleOf(each.kind), stored: each })),
    stored: ({ type, name }) => exists.find(({ kind, metadata }) => kind === type.kind && metadata.name === name),
  })
}

function shown({ steps, unfinished }: Course) {
  const text = (step: Step): string => {
    if (step.do === 'keep') return `keep ${step.wanted.type.kind}`
    if (step.do === 'remove') return `remove ${step.type.kind}`
    return step.do === 'takeBack' ? `takeBack ${step.left.kind}` : step.do
  }
  return { steps: steps.map(text), waits: unfinished?.message }
}

const KEPT = ['keep ReservedAddress', 'keep Backend', 'keep Edge', 'keep Tunnel']

describe('a Service', () => {
  test('has a course for each port, and asks for the same whatever exists', () => {
    const of = service({}, [80, 443])
    for (const exists of [[], stored(of)]) {
      const { courses, surplus, problem } = compose(of, exists)
      expect(courses.map(shown)).toEqual([{ steps: KEPT }, { steps: KEPT }])
      expect({ surplus, problem }).toEqual({ surplus: [], problem: undefined })
    }
  })

  test('takes back what a former one has left, before anything else', () => {
    const of = service()
    const [course] = compose(of, stored(of, { ownerReferences: [] })).courses
    expect(course && shown(course).steps).toEqual(KEPT.map((step) => step.replace('keep', 'takeBack')))
    expect(course && shown(course).waits).toContain('of a former Service are taken over')
  })

  test('replaces what cannot be changed with all that uses it, the users first', () => {
    const [course] = compose(service({ 'culvert.dev/account': 'other' }), stored(service())).courses
    expect(course && shown(course).steps).toEqual(KEPT.toReversed().map((step) => step.replace('keep', 'remove')))
    expect(course && shown(course).waits).toContain('will be replaced')
  })

  test('replaces only the Edge and what follows it when it gets a domain, and keeps the address until then', () => {
    const { courses, surplus } = compose(service({ 'culvert.dev/domain': 'shop.example.com' }), stored(service()))
    expect(courses.map((course) => shown(course).steps)).toEqual([['remove Edge']])
    expect(surplus.map(({ role, stored: { kind } }) => [role, kind])).toEqual([['place', 'ReservedAddress']])
  })

  test('does not repeat a deletion that has begun', () => {
    const of = service()
    const exists = stored(of).map((part) => {
      const { metadata } = part
      return part.kind === 'Backend'
        ? { ...part, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
        : part
    })
    const [course] = compose(of, exists).courses
    expect(course && shown(course).steps).toEqual(['remove Tunnel', 'remove Edge'])
  })

  test('leaves alone what has another owner: keeping it says so', () => {
    const of = service()
    const owner = { apiVersion: 'v1', kind: 'Service', name: 'other', uid: 'uid-9', controller: true }
    const foreign = stored(service({ 'culvert.dev/account': 'other' }), { ownerReferences: [owner] })
    expect(compose(of, foreign).courses.map(shown)).toEqual([{ steps: KEPT }])
  })

  test('closes its Edge before anything that may fail', () => {
    const of = service({ 'culvert.dev/ip-policies': 'late' })
    const exists = stored(service()).map((part) => {
      return part.kind === 'Edge'
        ? { ...part, metadata: { ...part.metadata, finalizers: ['culvert.dev/remote'] }, status: { id: 'edg_1' } }
        : part
    })
    const [course] = compose(of, exists).courses
    expect(course && shown(course).steps).toEqual(['keep Edge', 'keep ReservedAddress', 'keep Backend', 'keep Tunnel'])
    expect(course?.steps[0]).toMatchObject({ wanted: { content: { spec: { backend: { enabled: false } } } } })
    expect(course && shown(course).waits).toContain('is being closed')
  })

  test('that cannot be followed changes nothing', () => {
    const of = service({ 'culvert.dev/domain': 'NO' })
    expect(compose(of, stored(service()))).toMatchObject({ courses: [], surplus: [], problem: { type: 'stalled' } })
  })
})
