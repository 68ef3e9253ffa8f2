import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { authorPolicy } from '../../../scripts/permissions/author-policy.ts'
import { unreserved } from '../../../src/cli/doctor/checks/approvals.ts'
import { compareCRD } from '../../../src/cli/doctor/checks/crds.ts'
import { clockFinding } from '../../../src/cli/doctor/checks/operator.ts'
import { mayBind } from '../../../src/cli/doctor/checks/tunnels.ts'
import { CHECKS, type Finding, isWell, type Severity, worstFirst } from '../../../src/cli/doctor/finding.ts'
import { aclNeeds } from '../../../src/kinds/credentials/acl.ts'
import { edge } from '../../../src/kinds/edge.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { KindsRegistry } from '../../../src/managed/kinds-registry.ts'

const severities: readonly Severity[] = ['error', 'warning', 'unchecked']
const finding = fc.record({
  severity: fc.constantFrom(...severities),
  check: fc.constantFrom(...CHECKS),
  object: fc.string(),
  cause: fc.string(),
})

describe('findings', () => {
  test('are ordered by severity, then by check, and none gets lost', () => {
    fc.assert(
      fc.property(fc.array(finding), (found: readonly Finding[]) => {
        const sorted = worstFirst(found)
        expect(sorted).toHaveLength(found.length)
        const ranks = sorted.map(({ severity, check }) => severities.indexOf(severity) * 100 + CHECKS.indexOf(check))
        expect(ranks).toEqual(ranks.toSorted((left, right) => left - right))
        expect(isWell(found)).toBe(!found.some(({ severity }) => severity !== 'unchecked'))
        expect(isWell(found, 'error')).toBe(!found.some(({ severity }) => severity === 'error'))
      }),
    )
  })
})

describe('a CRD', () => {
  const { definition } = edge
  const schema = { spec: definition.spec, status: definition.status }
  const crd = (properties: object, version: object = { name: 'v1alpha1', served: true }) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'edges.culvert.dev', uid: 'u', resourceVersion: '1' },
    spec: { versions: [{ ...version, schema: { openAPIV3Schema: { properties } } }] },
  })

  test('with the fields of this build is right', () => {
    expect(compareCRD(definition, crd(schema) as never)).toEqual([])
  })

  test('that is absent, or does not serve the version, is an error', () => {
    expect(compareCRD(definition, undefined)).toMatchObject([{ severity: 'error', cause: 'it is not installed' }])
    const old = crd(schema, { name: 'v1alpha0', served: true })
    expect(compareCRD(definition, old as never)).toMatchObject([{ severity: 'error', cause: /v1alpha1/ }])
  })

  test('without a field of this build is of an older version', () => {
    const { properties } = definition.spec
    const { protocol: _protocol, ...rest } = properties
    const older = crd({ ...schema, spec: { ...definition.spec, properties: rest } })
    expect(compareCRD(definition, older as never)).toMatchObject([{ severity: 'error', cause: /lacks spec\.protocol/ }])
  })

  test('with further fields is of a newer version', () => {
    const properties = { ...definition.spec.properties, novelty: { type: 'string' } }
    const newer = crd({ ...schema, spec: { ...definition.spec, properties } })
    expect(compareCRD(definition, newer as never)).toMatchObject([{ severity: 'warning', cause: /spec\.novelty/ }])
  })
})

describe('plans that wait for approval', () => {
  const meta = (name: string) => ({ name, uid: 'u', resourceVersion: '1' })
  const planned = ['shop', 'blog', 'web'].map((namespace) => ({
    ...{ apiVersion: 'culvert.dev/v1alpha1', kind: 'Backend', metadata: { ...meta('api'), namespace } },
    spec: { managementPolicy: 'Plan' },
  }))
  const object = (name: string, spec: object) => ({ apiVersion: 'v1', kind: 'X', metadata: meta(name), spec })
  const policy = object('authors', authorPolicy(new KindsRegistry(kinds)))
  const binding = object('authors', { policyName: 'authors', validationActions: ['Deny'] })
  const of = (policies: object[], bindings: object[]) => {
    return unreserved(planned as never, policies as never, bindings as never)
  }

  test('are reserved by the policy for authors, where it is bound and denies', () => {
    expect(of([policy], [binding])).toEqual([])
    const cause = /^anyone who may edit it .*, and 2 more/
    const warning = [{ severity: 'warning', check: 'approvals', object: 'Backend/api in namespace shop', cause }]
    expect(of([], [])).toMatchObject(warning)
    expect(of([policy], [])).toMatchObject(warning)
    expect(of([object('authors', { validations: [] })], [binding])).toMatchObject(warning)
    const audited = object('authors', { ...binding.spec, validationActions: ['Audit'] })
    expect(of([policy], [audited])).toMatchObject(warning)
  })

  test('are reserved only in the namespaces that the binding selects', () => {
    const key = 'kubernetes.io/metadata.name'
    const namespaceSelector = { matchExpressions: [{ key, operator: 'In', values: ['shop', 'blog'] }] }
    const some = object('authors', { ...binding.spec, matchResources: { namespaceSelector } })
    expect(of([policy], [some])).toMatchObject([{ object: 'Backend/api in namespace web' }])
  })
})

test('a clock is wrong only if it is off by more than half a minute', () => {
  expect(clockFinding('the API', 30_000, 0)).toEqual([])
  expect(clockFinding('the API', 0, 120_000)).toMatchObject([{ check: 'clock', cause: /2 minutes/ }])
})

test.for([
  [undefined, { app: 'shop' }, true],
  [['*'], { app: 'shop' }, true],
  [['bind:app=shop'], { app: 'shop' }, true],
  [['bind:app=*'], { app: 'shop' }, true],
  [['bind:*=shop'], { app: 'shop' }, true],
  [['bind:app=shop'], { app: 'shop', tier: 'web' }, false],
  [['bind:app=other'], { app: 'shop' }, false],
  [['bind:*.example.com'], { app: 'shop' }, false],
  [['bind:*.example.com'], {}, true],
] as const)('an acl %j may bind %j: %s', ([acl, labels, expected]) => {
  expect(mayBind(aclNeeds({ acl: acl && [...acl] }), labels)).toBe(expected)
})
