import { describe, expect, test } from 'vitest'
import { kinds } from '../../../../src/kinds/index.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import { KindsRegistry } from '../../../../src/managed/kinds-registry.ts'
import { CREATE_ATTEMPT, FINALIZER } from '../../../../src/managed/names.ts'
import type { Resources } from '../../../../src/managed/run/context.ts'
import { closed, closingOf } from '../../../../src/managed/services/closing.ts'
import { type ServicePart, serviceObjects } from '../../../../src/managed/services/objects.ts'

const registry = new KindsRegistry(kinds)
const inForce = ['Ready', 'Synced'].map((type) => ({ type, status: 'True', observedGeneration: 1 }))

function resource(kind: string, name: string, more: object = {}): CustomResource {
  const metadata = { name, namespace: 'shop', uid: `${kind}/${name}`, resourceVersion: '1', generation: 1 }
  return { apiVersion: 'culvert.dev/v1alpha1', kind, metadata, spec: {}, ...more } as unknown as CustomResource
}

function policy(name: string, more: object = {}): CustomResource {
  return resource('IPPolicy', name, {
    spec: { rules: [{ cidr: '192.0.2.0/24', action: 'Allow' }] },
    status: { id: `ipp_${name}`, ruleCount: 1, conditions: inForce },
    ...more,
  })
}

const place = resource('ReservedAddress', 'web-80', { status: { id: 'ra_1', conditions: inForce } })
const backend = resource('Backend', 'web-80', { status: { id: 'bkd_1', conditions: inForce } })

/** The Edge that a Service made, which has an object with these policies. */
function edge(policies: readonly string[], more: object = {}): CustomResource {
  const ipPolicyRefs = policies.map((name) => ({ name }))
  const made = resource('Edge', 'web-80', {
    spec: ipPolicyRefs.length === 0 ? {} : { ipRestriction: { enabled: true, ipPolicyRefs } },
    status: {
      id: 'edgtcp_1',
      internal: { references: policies.map((name) => ({ kind: 'IPPolicy', name, id: `ipp_${name}` })) },
    },
    ...more,
  })
  return { ...made, metadata: { ...made.metadata, finalizers: [FINALIZER] } }
}

function wanted(policies: string | undefined): ServicePart {
  const annotations = policies === undefined ? {} : { 'culvert.dev/ip-policies': policies }
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop', uid: 'uid-1', resourceVersion: '1', annotations },
    spec: { type: 'LoadBalancer', loadBalancerClass: 'culvert.dev/edge', ports: [{ port: 80 }] },
  }
  const objects = serviceObjects(service, { maxPorts: 16 }, (kind) => registry.resourceType(kind))
  const found = 'ports' in objects ? objects.ports[0]?.objects.find(({ type }) => type.kind === 'Edge') : undefined
  if (found === undefined) throw new Error('no Edge')
  return found
}

/** A cluster with these resources, those named in `elsewhere` in another account. */
function cluster(resources: readonly CustomResource[], elsewhere: readonly string[] = []) {
  const known: Partial<Resources> = {
    get: ({ kind, name }) => resources.find((each) => each.kind === kind && each.metadata.name === name),
    accountKeyOf: () => ({ kind: 'Account', namespace: 'shop', name: 'default' }),
    livesIn: ({ metadata }) => !elsewhere.includes(metadata.name),
    referrersOf: () => [],
  }
  return { kinds: registry, resources: known as Resources }
}

const whole = [place, backend]

describe('an Edge that serves cannot be restricted', () => {
  test.each<[string, ReturnType<typeof cluster>, string]>([
    ['by a policy that does not exist', cluster(whole), 'IPPolicy/late does not exist'],
    ['by a policy without an object', cluster([...whole, policy('late', { status: {} })]), 'is not created yet'],
    [
      'by a policy whose rules are not in place',
      cluster([...whole, policy('late', { status: { id: 'ipp_late', conditions: [] } })]),
      'does not have every declared rule',
    ],
    ['by a policy of another account', cluster([...whole, policy('late')], ['late']), 'is in another account'],
    ['while it would wait for something else', cluster([backend, policy('late')]), 'ReservedAddress/web-80'],
  ])('%s', (_, known, message) => {
    expect(closingOf(known, edge([]), wanted('late'))?.why).toContain(message)
    expect(closingOf(known, edge(['office']), wanted('late'))?.why).toContain(message)
  })
})

describe('an Edge need not be closed', () => {
  test('for policies that are in place', () => {
    const known = cluster([...whole, policy('office'), policy('lab')])
    expect(closingOf(known, edge([]), wanted('office,lab'))).toBeUndefined()
  })

  test('that is restricted by these policies already, whatever became of them since', () => {
    expect(closingOf(cluster([]), edge(['lab', 'office']), wanted('office,lab'))).toBeUndefined()
  })

  test('whose Service names none', () => {
    expect(closingOf(cluster([]), edge(['office']), wanted(undefined))).toBeUndefined()
  })

  test('without an object: but one may be in the making', () => {
    const known = cluster(whole)
    const { metadata, ...none } = edge([], { status: {} })
    expect(closingOf(known, { ...none, metadata }, wanted('late'))).toBeUndefined()
    const attempting = { ...none, metadata: { ...metadata, annotations: { [CREATE_ATTEMPT]: 'any' } } }
    expect(closingOf(known, attempting, wanted('late'))?.why).toContain('does not exist')
  })
})

describe('an Edge whose restriction the API refuses', () => {
  const known = cluster([...whole, policy('office'), policy('lab')])
  const refused = { type: 'Synced', status: 'False', reason: 'Rejected', message: 'no', observedGeneration: 1 }
  const asking = (modules: object, synced: object = refused) => {
    return edge(['office'], { status: { id: 'edgtcp_1', modules, conditions: [synced], internal: {} } })
  }
  const restrictedBy = (...ipPolicyIDs: readonly string[]) => {
    return { backend: { enabled: true }, ipRestriction: { enabled: true, ipPolicyIDs } }
  }

  test.each<[string, object]>([
    ['open', { backend: { enabled: true } }],
    ['open with policies that are turned off', { ...restrictedBy('ipp_office'), ipRestriction: { enabled: false } }],
    ['restricted by another policy', restrictedBy('ipp_lab')],
    ['restricted by another one too', restrictedBy('ipp_lab', 'ipp_office')],
  ])('is closed if it is %s', (_, modules) => {
    expect(closingOf(known, asking(modules), wanted('office'))).toEqual({ turnsOff: true, why: 'no', isRefused: true })
  })

  test('keeps asking once it is closed', () => {
    const closedAlready = asking({ ...restrictedBy('ipp_lab'), backend: { enabled: false } })
    expect(closingOf(known, closedAlready, wanted('office'))).toMatchObject({ turnsOff: false, isRefused: true })
  })

  test.each<[string, ReturnType<typeof asking>, string | undefined]>([
    ['is restricted as its Service asks', asking(restrictedBy('ipp_office')), 'office'],
    ['has yet to ask for these policies', asking(restrictedBy('ipp_office')), 'lab'],
    ['is for everyone', asking(restrictedBy('ipp_office')), undefined],
    ['was edited since', asking(restrictedBy('ipp_lab'), { ...refused, observedGeneration: 0 }), 'office'],
    ['could not be asked', asking(restrictedBy('ipp_lab'), { ...refused, reason: 'ApiError' }), 'office'],
  ])('need not be closed if it %s', (_, stored, policies) => {
    expect(closingOf(known, stored, wanted(policies))).toBeUndefined()
  })

  test('is opened again only when it is closed for certain', () => {
    const spec = { backend: { enabled: false } }
    const closing = { ...asking({ backend: { enabled: true } }, { ...refused, observedGeneration: 0 }), spec }
    expect(closingOf(known, closing as CustomResource, wanted('office'))).toMatchObject({ turnsOff: true })
    const done = { ...asking({ backend: { enabled: false } }, { ...refused, status: 'True' }), spec }
    expect(closingOf(known, done as CustomResource, wanted('office'))).toBeUndefined()
  })
})

describe('a closed Edge', () => {
  const waiting = { isRefused: false }
  const fieldsOf = ({ content }: ServicePart) => content.spec as Readonly<Record<string, unknown>>

  test('has no Backend in use, and waits for nothing', () => {
    const spec = fieldsOf(closed(cluster(whole), edge([]), wanted('late'), waiting))
    expect(spec).toMatchObject({ protocol: 'TCP', backend: { enabled: false, name: 'web-80' }, ipRestriction: null })
    expect(spec).not.toHaveProperty('hostports')
  })

  test('keeps the policies that restrict it, and none that it would wait for', () => {
    const known = cluster([...whole, policy('lab')])
    const stored = edge(['office'], {
      spec: { ipRestriction: { ipPolicyRefs: [{ name: 'office' }, { name: 'lab' }, { name: 'gone' }] } },
    })
    expect(fieldsOf(closed(known, stored, wanted('late'), waiting)).ipRestriction).toEqual({
      enabled: true,
      ipPolicyRefs: [{ name: 'office' }, { name: 'lab' }],
    })
  })

  test('keeps of policies that the API refuses those that are in force', () => {
    const known = cluster([...whole, policy('office'), policy('lab')])
    const spec = { ipRestriction: { ipPolicyRefs: [{ name: 'office' }, { name: 'lab' }] } }
    const fields = (sent: readonly string[]) => {
      return fieldsOf(closed(known, edge(sent, { spec }), wanted('office,lab'), { isRefused: true }))
    }
    expect(fields(['office']).ipRestriction).toEqual({ enabled: true, ipPolicyRefs: [{ name: 'office' }] })
    expect(fields([]).ipRestriction).toBeNull()
  })

  test('stays as it is when it is closed again', () => {
    const known = cluster(whole)
    const stored = edge(['office'])
    const first = closed(known, stored, wanted('late'), waiting)
    const again = { ...stored, spec: { ...stored.spec, ...fieldsOf(first) } } as CustomResource
    expect(closed(known, again, wanted('late'), waiting)).toEqual(first)
  })
})
