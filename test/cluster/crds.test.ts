import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import { CrdCluster } from '../builders/crd-cluster.ts'
import { nightlyUnlessVaried } from '../kinds/lookup.ts'
import './provided.ts'

const folder = join(import.meta.dirname, '..', '..', 'crds')
let cluster: CrdCluster

beforeAll(async () => {
  cluster = await CrdCluster.open(inject('kubectlPath'), inject('kubeconfigPath'))
})

afterAll(() => cluster[Symbol.asyncDispose]())

describe('every generated CRD', async () => {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml'))

  test('belongs to a kind, and every kind has one', () => {
    expect(files.sort()).toEqual(kinds.map(({ definition: { group, plural } }) => `${group}_${plural}.yaml`).sort())
  })

  for (const { definition } of kinds) {
    const { kind, group, plural } = definition
    test(`that of ${kind} is accepted by the apiserver`, { tags: nightlyUnlessVaried(kind) }, async () => {
      await cluster.establish(await readFile(join(folder, `${group}_${plural}.yaml`), 'utf8'))
    })
  }

  test('of an edge lets kubectl find it by the id at the API, and by the account that it names', async () => {
    await cluster.establish(await readFile(join(folder, 'culvert.dev_edges.yaml'), 'utf8'))
    const names = ['selected', 'other']
    for (const [index, name] of names.entries()) {
      const spec = { protocol: 'TCP', accountRef: { name: `${name}-account` } }
      const edge = { apiVersion: 'culvert.dev/v1alpha1', kind: 'Edge', metadata: { name, namespace: 'default' }, spec }
      await cluster.succeed(['apply', '--server-side', '-f', '-'], JSON.stringify(edge))
      const accountRef = { kind: 'Account', name: `${name}-account` }
      const patch = JSON.stringify({ status: { id: `edg_selectable_${index}`, accountRef } })
      await cluster.succeed(['patch', 'edges.culvert.dev', name, '--subresource=status', '--type=merge', '-p', patch])
    }
    const account = 'accountRef.name=selected-account'
    for (const selector of ['status.id=edg_selectable_0', `spec.${account}`, `status.${account}`]) {
      const found = await cluster.succeed(['get', 'edges.culvert.dev', '--field-selector', selector, '-o', 'name'])
      expect(found.trim(), selector).toBe('edge.culvert.dev/selected')
    }
    await cluster.succeed(['delete', 'edges.culvert.dev', ...names])
  })

  test('of an edge is explained by kubectl', async () => {
    await cluster.establish(await readFile(join(folder, 'culvert.dev_edges.yaml'), 'utf8'))
    const edge = kinds.find(({ definition }) => definition.kind === 'Edge')
    const description = String(Reflect.get(Object(edge?.definition.spec.properties.hostports), 'description'))
    const explained = await cluster.succeed(['explain', 'edge.spec.hostports', '--api-version=culvert.dev/v1alpha1'])
    expect(explained).toContain('FIELD: hostports')
    expect(explained.replaceAll(/\s+/g, ' ')).toContain(description.replaceAll(/\s+/g, ' '))
  })
})
