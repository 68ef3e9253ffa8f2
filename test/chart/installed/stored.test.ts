import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { NAMESPACE, type Rendered, render } from '../support/helm.ts'
import { CHART, ROOT } from '../support/paths.ts'
import { documented } from './support/documented.ts'
import { InstalledCluster } from './support/installed-cluster.ts'

let cluster: InstalledCluster
beforeAll(async () => {
  cluster = await InstalledCluster.start()
  await cluster.kubectl(['create', 'namespace', NAMESPACE])
}, 120_000)
afterAll(() => cluster[Symbol.asyncDispose](), 60_000)

/** Everything that the chart can render from generated files, apart from kinds that the API server does not know. */
const EVERYTHING = {
  admissionPolicy: { authors: { enabled: true }, operator: { enabled: true } },
  dnsEndpoints: { enabled: true, domains: ['*.example.com'] },
  tunnels: {
    enabled: true,
    gateways: ['ssh.example.com:22'],
    services: { enabled: true },
    templates: { enabled: true },
  },
  emulator: { enabled: true },
}

// A tool that compares a manifest with what the server returns would apply it again and again.
it('is stored field by field as the chart renders it', async () => {
  const rendered = await render(4, EVERYTHING)
  expect(rendered.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['CustomResourceDefinition', 'ClusterRole', 'ValidatingAdmissionPolicy', 'Deployment']),
  )
  const lost: string[] = []
  for (const object of rendered) {
    const stdin = JSON.stringify(object)
    const apply = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-n', NAMESPACE]
    const stored = JSON.parse(await cluster.kubectl([...apply, '-o', 'json', '-f', '-'], { stdin })) as Rendered
    lost.push(...lostFrom(object, stored, `${object.kind}/${object.metadata.name}`))
  }
  expect(lost).toEqual([])
})

it('takes over CRDs of its own version that kubectl applied, without a conflict', async () => {
  await cluster.kubectl(['apply', '--server-side', '-f', join(ROOT, 'crds')])
  const blocks = await documented('docs/install.md', 'Upgrading')
  await cluster.shell(blocks.find((block) => block.includes('managed-by=Helm')) ?? '')
  await cluster.helmed(4, ['install', 'culvert', CHART, '--namespace', NAMESPACE])
})

/** Paths of a manifest's values that a stored object does not have, or has otherwise. */
function lostFrom(wanted: unknown, stored: unknown, path: string): readonly string[] {
  if (typeof wanted !== 'object' || wanted === null) return wanted === stored ? [] : [path]
  if (typeof stored !== 'object' || stored === null || Array.isArray(wanted) !== Array.isArray(stored)) return [path]
  if (Array.isArray(wanted) && wanted.length !== (stored as unknown[]).length) return [path]
  return Object.entries(wanted).flatMap(([key, value]) => lostFrom(value, Reflect.get(stored, key), `${path}.${key}`))
}
