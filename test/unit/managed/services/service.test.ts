import { expect, test } from 'vitest'
import { isOurs, isServed, type ServiceResource } from '../../../../src/managed/services/service.ts'

const reached = { loadBalancer: { ingress: [{ hostname: 'lb.example.com' }] } }
const told = { conditions: [{ type: 'culvert.dev/ready' }] }

function service(spec: ServiceResource['spec'], status: object = {}): ServiceResource {
  const metadata = { name: 'web', namespace: 'shop', uid: 'uid-1', resourceVersion: '1' }
  return { apiVersion: 'v1', kind: 'Service', metadata, spec, status } as ServiceResource
}

test.each<[string, ServiceResource, beside: boolean, alone: boolean]>([
  ['of its class', service({ type: 'LoadBalancer', loadBalancerClass: 'culvert.dev/edge' }), true, true],
  ['of another class', service({ type: 'LoadBalancer', loadBalancerClass: 'example.com/other' }), false, false],
  ['without a class', service({ type: 'LoadBalancer' }), false, true],
  ['without a class, reached through another', service({ type: 'LoadBalancer' }, reached), false, false],
  ['without a class, reached through Culvert', service({ type: 'LoadBalancer' }, { ...reached, ...told }), false, true],
  ['of another type', service({ type: 'ClusterIP' }), false, false],
])('a Service %s is served as the administrator says', (_, each, beside, alone) => {
  expect(isServed(each, { unclassed: false })).toBe(beside)
  expect(isServed(each, { unclassed: true })).toBe(alone)
})

test('a Service that is no longer served is still one to clean up after', () => {
  expect(isOurs(service({ type: 'LoadBalancer' }, { ...reached, ...told }), { unclassed: false })).toBe(true)
  expect(isOurs(service({ type: 'LoadBalancer' }, reached), { unclassed: false })).toBe(false)
})
