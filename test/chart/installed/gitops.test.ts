import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { applyByEngines } from '../../gitops/engines.ts'
import { merged, objectsIn, type Rendered, render } from '../support/helm.ts'
import { ROOT } from '../support/paths.ts'
import { shapes } from '../support/shapes.ts'
import { InstalledCluster } from './support/installed-cluster.ts'

let cluster: InstalledCluster

beforeAll(async () => {
  cluster = await InstalledCluster.start()
}, 900_000)
afterAll(() => cluster[Symbol.asyncDispose](), 60_000)

async function manifestsIn(pattern: string): Promise<readonly Rendered[]> {
  const files = globSync(pattern, { cwd: ROOT }).sort()
  const texts = files.map((file) => readFile(join(ROOT, file), 'utf8'))
  return (await Promise.all(texts)).flatMap(objectsIn)
}

/** The namespaces that manifests are in, apart from those that they create. */
function namespacesOf(manifests: readonly Rendered[]): readonly Rendered[] {
  const created = manifests.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name)
  const named = manifests.flatMap(({ metadata: { namespace = 'default' } }) => namespace)
  return [...new Set(named)]
    .filter((name) => !created.includes(name))
    .map((name) => {
      return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
    })
}

/** Kinds of others, which this cluster does not serve. */
function isForeign({ apiVersion }: Rendered): boolean {
  return /^(constraints\.|templates\.)?gatekeeper\.sh\/|^kyverno\.io\/|^monitoring\.coreos\.com\//.test(apiVersion)
}

/** Flux changes nothing when it applies them for the second time, and Argo CD sees no difference. */
async function expectAtRest(all: readonly Rendered[]): Promise<void> {
  const manifests = all.filter((each) => !isForeign(each))
  const objects = [...namespacesOf(manifests), ...manifests]
  const findings = await applyByEngines(cluster.controlPlane.kubeconfigPath, objects)
  expect(findings).toHaveLength(objects.length)
  expect(findings.filter(({ flux, argo }) => flux !== 'unchanged' || Object.keys(argo).length > 0)).toEqual([])
}

it('Flux and Argo CD find every CRD as they applied it', { timeout: 900_000 }, async () => {
  await expectAtRest(await manifestsIn('crds/*.yaml'))
})

it('Flux and Argo CD find every example as they applied it', async () => {
  const examples = await manifestsIn('examples/{kinds,quickstart,services,traffic,tunnels}/*.yaml')
  // Culvert writes TunnelSessions itself: they are in no repository.
  await expectAtRest(examples.filter(({ kind }) => kind !== 'TunnelSession'))
})

// The CRDs of the chart have their own test.
it.each(shapes.slice(0, 2))('Flux and Argo CD find the chart as they applied it, %s', async (_name, values) => {
  // Hooks are no part of a release: only Helm runs them.
  await expectAtRest(await render(4, merged(values, { crds: { install: false } }), ['--no-hooks']))
})

// At last: they refuse resources of the other examples.
it('Flux and Argo CD find the example policies as they applied them', async () => {
  await expectAtRest(await manifestsIn('examples/policies/*.yaml'))
})
