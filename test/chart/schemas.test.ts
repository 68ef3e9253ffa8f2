import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { stringify } from 'yaml'
import { runProgram } from '../../controlplane/run-program.ts'
import { HELMS, render, renderText } from './support/helm.ts'
import { SCHEMA_TEMPLATE } from './support/object-schemas.ts'
import { shapes } from './support/shapes.ts'

it.each(shapes)('renders objects that the API accepts, %s', async (_name, values) => {
  for (const major of HELMS) {
    const { code, stdout, stderr } = await judge(await renderText(major, values))
    expect(stdout + stderr).toMatch(/Invalid: 0, Errors: 0, Skipped: 0/)
    expect(code).toBe(0)
  }
})

it('judges every rendered object', async () => {
  const [, [, values] = ['', {}]] = shapes
  const objects = await render(4, values)
  const found = new Set(objects.map(({ kind }) => kind))
  for (const kind of [
    'NetworkPolicy',
    'PodDisruptionBudget',
    'PodMonitor',
    'PrometheusRule',
    'Secret',
    'ServiceMonitor',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
  ]) {
    expect(found).toContain(kind)
  }
})

it('the schemas refuse unknown fields', async () => {
  const meta = { metadata: { name: 'x' } }
  const wrong = [
    { apiVersion: 'v1', kind: 'Service', ...meta, spec: { port: 80 } },
    { apiVersion: 'apps/v1', kind: 'Deployment', ...meta, spec: { replicas: 'two' } },
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'ServiceMonitor',
      ...meta,
      spec: { selector: {}, endpoints: [{ prot: 1 }] },
    },
    { apiVersion: 'culvert.dev/v1alpha1', kind: 'ClusterAccount', ...meta, spec: { baseURL: 'https://x' } },
    { apiVersion: 'apps/v1', kind: 'Unheard', ...meta },
  ]
  const { code, stdout } = await judge(wrong.map((object) => stringify(object)).join('---\n'))
  expect(code).toBe(1)
  expect(stdout).toMatch(/Valid: 0, Invalid: 4, Errors: 1, Skipped: 0/)
})

function judge(manifests: string) {
  const location = join(inject('schemasFolder'), SCHEMA_TEMPLATE)
  return runProgram(inject('kubeconformPath'), ['-strict', '-summary', '-schema-location', location, '-'], {
    stdin: manifests,
  })
}
