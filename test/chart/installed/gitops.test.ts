import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { applyByEngines } from '../../gitops/engines.ts'
import { NAMESPACE, objectsIn, type Rendered, render } from '../support/helm.ts'
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

function namespace(name: string): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

/** Kinds of others, which this cluster does not serve. */
function isForeign({ apiVersion }: Rendered): boolean {
  return /^(constraints\.|templates\.)?gatekeeper\.sh\/|^kyverno\.io\/|^monitoring\.coreos\.com\//.test(apiVersion)
}

/** The engines see the manifests as they apply them: Flux changes nothing the second time, Argo CD is Synced. */
async function expectAtRest(manifests: readonly object[]): Promise<void> {
  const findings = await applyByEngines(cluster.controlPlane.kubeconfigPath, manifests)
  expect(findings).toHaveLength(manifests.length)
  expect(findings.filter(({ flux, argo }) => flux !== 'unchanged' || Object.keys(argo).length > 0)).toEqual([])
}

it('Flux and Argo CD find every CRD as they applied it', { timeout: 900_000 }, async () => {
  await expectAtRest(await manifestsIn('crds/*.yaml'))
})

it('Flux and Argo CD find every example as they applied it', async () => {
  const examples = await manifestsIn('examples/*/*.yaml')
  await expectAtRest([namespace('shop'), ...examples.filter((manifest) => !isForeign(manifest))])
})

it.each(shapes)('Flux and Argo CD find the chart as they applied it, %s', async (_name, values) => {
  const rendered = await render(4, values)
  const namespaces = [NAMESPACE, 'shop', 'web'].map(namespace)
  await expectAtRest([...namespaces, ...rendered.filter((manifest) => !isForeign(manifest))])
})
