import { expect, test } from 'vitest'
import { KubeError } from '../../../../src/kube/kube-error.ts'
import type { TunnelSpec } from '../../../../src/managed/descriptor/tunnel.ts'
import { refusedPods } from '../../../../src/managed/tunnels/pod-problems.ts'

const SPEC: TunnelSpec = { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 }, template: {} }

test.each<[number, string, string]>([
  [
    400,
    'POST /apis: Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.template.spec.affinity.nodeAfinity"',
    'unknown field "spec.template.affinity.nodeAfinity"',
  ],
  [
    422,
    'PATCH /apis:  "" is invalid: patch: Invalid value: "{\\"spec\\":{\\"a\\": \\"b\\"}}": strict decoding error: unknown field "spec.template.spec.tolerations[0].efect"',
    'unknown field "spec.template.tolerations[0].efect"',
  ],
  [
    422,
    'PATCH /apis:  "" is invalid: patch: Invalid value: "{\\"spec\\"…, unknown field "spec.template.spec.affinity.b"',
    ', unknown field "spec.template.affinity.b"',
  ],
  [
    422,
    'POST /apis: Deployment.apps "shop-tunnel" is invalid: [spec.template.spec.containers[0].resources.limits[cpu]: Invalid value: "x": no, spec.template.labels: Invalid value: "y"]',
    '[spec.template.resources.limits[cpu]: Invalid value: "x": no, spec.template.labels: Invalid value: "y"]',
  ],
  [
    422,
    'POST /apis: Deployment.apps "shop-tunnel" is invalid: spec.template.spec.containers[0].readinessProbe.httpGet.port: Invalid value: 0',
    'spec.agent.readinessProbe.httpGet.port: Invalid value: 0',
  ],
])('a refusal with %i names the field of the Tunnel', (status, message, expected) => {
  const refuse = () => refusedPods(SPEC)(new KubeError('Invalid', message, { status }))
  const code = 'InvalidSpec'
  expect(refuse).toThrow(
    expect.objectContaining({ code, message: `spec.template: the API server refuses it, correct it: ${expected}` }),
  )
})

test('what a policy refuses keeps its own message', () => {
  const error = new KubeError('Forbidden', 'denied by policy', { status: 403 })
  expect(() => refusedPods(SPEC)(error)).toThrow(error)
})
