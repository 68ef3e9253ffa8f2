import { expect, test } from 'vitest'
import { kinds } from '../../../../src/kinds/index.ts'
import type { OwnedPart } from '../../../../src/managed/composed/composition.ts'
import { KindsRegistry } from '../../../../src/managed/kinds-registry.ts'
import { conditionOf, ingressOf } from '../../../../src/managed/services/service-status.ts'

const registry = new KindsRegistry(kinds)

function edge(hostports: readonly string[], ready: 'True' | 'False' = 'True', more: object = {}): OwnedPart {
  const conditions = [
    { type: 'Ready', status: ready, reason: 'Any', message: 'why' },
    { type: 'Synced', status: 'True', reason: 'InSync', message: 'synced', observedGeneration: 1 },
  ]
  const stored = {
    apiVersion: 'culvert.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name: 'web-80', uid: 'u', resourceVersion: '1', generation: 1, ...more },
    status: { hostports, conditions },
  }
  return { type: registry.resourceType('Edge'), role: 'entry', stored }
}

test('each host of Ready Edges is shown once, in a fixed order, with its ports as they are', () => {
  const edges = [edge(['2.tcp.example:20']), edge(['1.tcp.example:30', '2.tcp.example:10'])]
  const shown = [
    { hostname: '1.tcp.example', ports: [{ port: 30, protocol: 'TCP' }] },
    {
      hostname: '2.tcp.example',
      ports: [
        { port: 10, protocol: 'TCP' },
        { port: 20, protocol: 'TCP' },
      ],
    },
  ]
  expect(ingressOf(edges)).toEqual(shown)
  expect(ingressOf(edges.toReversed())).toEqual(shown)
})

test('an address of the service that is a number is an IP whose traffic nodes do not take over', () => {
  expect(ingressOf([edge(['192.0.2.1:10'])])).toMatchObject([{ ip: '192.0.2.1', ipMode: 'Proxy' }])
  expect(ingressOf([edge(['[2001:db8::1]:10'])])).toMatchObject([{ ip: '2001:db8::1', ipMode: 'Proxy' }])
})

test('a domain of one’s own is reached where its CNAME record leads, one of the service under its name', () => {
  const domain = (cnameTarget?: string): OwnedPart => ({
    type: registry.resourceType('ReservedDomain'),
    role: 'place',
    stored: {
      ...edge([]).stored,
      kind: 'ReservedDomain',
      spec: { domain: 'shop.example.com' },
      status: { cnameTarget },
    },
  })
  const edges = [edge(['shop.example.com:443'])]
  expect(ingressOf([...edges, domain('1.cname.example')])).toMatchObject([{ hostname: '1.cname.example' }])
  expect(ingressOf([...edges, domain()])).toMatchObject([{ hostname: 'shop.example.com' }])
})

test('an Edge that is not Ready, or goes, is not shown', () => {
  expect(ingressOf([edge(['a.example:1'], 'False')])).toEqual([])
  expect(ingressOf([edge(['a.example:1'], 'True', { deletionTimestamp: '2026-01-01T00:00:00Z' })])).toEqual([])
})

test('a Service is Ready once everything that it owns is', () => {
  expect(conditionOf({ type: 'kept', parts: [edge([])] })).toMatchObject({ status: 'True', reason: 'Available' })
  expect(conditionOf({ type: 'kept', parts: [edge([], 'False')] })).toMatchObject({
    status: 'False',
    message: 'Edge/web-80 is not Ready: why',
  })
  const edited = edge([], 'True', { generation: 2 })
  expect(conditionOf({ type: 'kept', parts: [edited] })).toMatchObject({
    status: 'False',
    message: 'Edge/web-80 is not Synced: it is being reconciled',
  })
})
