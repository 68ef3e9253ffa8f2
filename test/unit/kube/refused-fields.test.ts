import { describe, expect, test } from 'vitest'
import { errorFromResponse, KubeError } from '../../../src/kube/kube-error.ts'
import { labelOf, REFUSED_FIELDS, refusalOf, remedyOf } from '../../../src/kube/refused-fields.ts'

const DENIED =
  "POST /apis/apps/v1/namespaces/web/deployments: deployments.apps \"shop-tunnel\" is forbidden: ValidatingAdmissionPolicy 'culvert' with binding 'culvert' denied request: "
const forbidden = (words: string): KubeError => new KubeError('Forbidden', words, { status: 403 })
const refused = (fields: string, body: unknown) => {
  const error = forbidden(`${DENIED}the operator of Culvert does not write ${fields}`)
  return refusalOf(error, { resource: 'deployments', body })?.fields
}

const BODY = {
  metadata: { labels: { 'app.kubernetes.io/name': 'culvert-agent' }, finalizers: null },
  spec: { template: { spec: { containers: [{ name: 'agent', image: 'culvert:1' }] } } },
}

describe('the fields of a refused write', () => {
  test.for([
    ['deployments.metadata.labels.app.kubernetes.io/name', true],
    ['deployments.metadata.labels.example.com/team', false],
    ['deployments.metadata.labels.app', false],
    ['deployments.metadata.labels', true],
    ['deployments.metadata.finalizers', false],
    ['deployments.spec.template.spec.tolerations', false],
    ['deployments.spec.template.spec.containers[0].image', true],
    ['deployments.spec.template.spec.containers[0].lifecycle', false],
    ['deployments.spec.template.spec.containers[1].image', false],
  ] as const)('include %s, which the request had: %s', ([name, isSent]) => {
    expect(refused(name, BODY)).toEqual([{ name, isSent }])
  })

  test('are named as the chart admits them, once each, also where the policy leaves out the type', () => {
    expect(refused('deployments.metadata.labels.a, metadata.labels.b, deployments.metadata.labels.a', {})).toEqual([
      { name: 'deployments.metadata.labels.a', isSent: false },
      { name: 'deployments.metadata.labels.b', isSent: false },
    ])
  })

  test('leave out the one at which a long message is shortened', () => {
    const names = Array.from({ length: 60 }, (_, index) => `deployments.metadata.labels.team-${index}`)
    const status = { kind: 'Status', message: `${DENIED}${REFUSED_FIELDS}${names.join(', ')}`, reason: 'Forbidden' }
    const error = errorFromResponse('POST /', { status: 403, body: JSON.stringify(status) }, 0)
    const found = refusalOf(error, { resource: 'deployments', body: {} })?.fields.map(({ name }) => name) ?? []
    expect(found.length).toBeGreaterThan(10)
    expect(names).toEqual(expect.arrayContaining(found))
  })

  test('are none where the policy refuses the write for another reason', () => {
    const error = forbidden(`${DENIED}the operator of Culvert writes only Secrets of type Opaque`)
    expect(refusalOf(error, { resource: 'secrets', body: {} })).toEqual({ fields: [] })
  })

  test('are unknown where something else refuses', () => {
    const sent = { resource: 'deployments', body: {} }
    expect(refusalOf(forbidden('deployments.apps is forbidden: exceeded quota'), sent)).toBeUndefined()
    expect(refusalOf(forbidden(`${DENIED}no images but ours`), sent)).toBeUndefined()
    const invalid = new KubeError('Invalid', `${DENIED}the operator of Culvert does not write deployments.spec`)
    expect(refusalOf(invalid, sent)).toBeUndefined()
  })
})

describe('the remedy for a refused write', () => {
  test('names the exact entry for the chart if a webhook added the field', () => {
    const remedy = remedyOf({ fields: [{ name: 'deployments.spec.template.spec.tolerations', isSent: false }] })
    expect(remedy).toContain('a mutating webhook added deployments.spec.template.spec.tolerations:')
    expect(remedy).toContain('admissionPolicy.operator.extraFields')
    expect(remedy).not.toContain('update the policy')
  })

  test('is to update the policy if Culvert sent the field, or none is named', () => {
    expect(remedyOf({ fields: [{ name: 'deployments.spec.replicas', isSent: true }] })).toMatch(
      /^Culvert itself sent deployments\.spec\.replicas: update the policy .*docs\/install\.md/,
    )
    expect(remedyOf({ fields: [] })).toMatch(/^update the policy/)
  })
})

test.for([
  ['deployments.spec.template.spec.tolerations', 'spec.template.spec.tolerations'],
  ['deployments.spec.template.spec.containers[0].image', 'spec.template.spec.containers[0].image'],
  ['deployments.metadata.labels.example.com/team', 'metadata.labels'],
  ['deployments.spec.template.metadata.annotations.a.b.c', 'spec.template.metadata.annotations'],
  ['secrets.data.tls.key', 'data'],
  ['deployments.spec.with space', undefined],
  [`deployments.spec.${'long'.repeat(100)}`, undefined],
] as const)('the label of %s is %s', ([name, expected]) => {
  expect(labelOf({ name, isSent: false })).toBe(expected)
})
