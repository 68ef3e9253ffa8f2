import { randomBytes } from 'node:crypto'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { kinds } from '../../src/kinds/index.ts'
import { CrdCluster } from '../builders/crd-cluster.ts'
import './provided.ts'

/** A manifest of the examples. */
interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

const folder = join(import.meta.dirname, '..', '..', 'examples')
/** Where the examples of kinds say that they live. */
const SHOP = 'shop'
const clusterScoped = kinds
  .filter(({ definition }) => definition.scope === 'Cluster')
  .map(({ definition }) => definition.kind)

async function manifestsIn(file: string): Promise<readonly Manifest[]> {
  return parseAllDocuments(await readFile(join(folder, file), 'utf8')).map((document) => {
    expect(document.errors, file).toEqual([])
    return document.toJS() as Manifest
  })
}

const files = globSync('kinds/*.yaml', { cwd: folder }).sort()

describe('the examples of the kinds', () => {
  const namespace = `examples-${randomBytes(5).toString('hex')}`
  let cluster: CrdCluster

  beforeAll(async () => {
    cluster = await CrdCluster.open(inject('kubectlPath'), inject('kubeconfigPath'))
    await cluster.succeed(['create', 'namespace', namespace])
  })
  afterAll(async () => {
    await cluster.succeed(['delete', 'namespace', namespace, '--wait=false'])
    await cluster[Symbol.asyncDispose]()
  })

  test.each(files)('%s is accepted by the apiserver, without an unknown field or a warning', async (file) => {
    const manifests = await manifestsIn(file)
    const plural = basename(file, '.yaml')
    const kind = kinds.find(({ definition }) => definition.plural === plural)?.definition.kind
    expect(manifests.map((manifest) => manifest.kind)).toContain(kind)
    for (const manifest of manifests) {
      const scoped = clusterScoped.includes(manifest.kind) ? {} : { namespace: SHOP }
      expect(manifest.metadata).toEqual({ name: expect.any(String), ...scoped })
    }
    const moved = manifests.map((manifest) => {
      const { namespace: from, ...metadata } = manifest.metadata
      return { ...manifest, metadata: from === undefined ? metadata : { ...metadata, namespace } }
    })
    const list = { apiVersion: 'v1', kind: 'List', items: moved }
    const strictly = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-o', 'name', '-f', '-']
    const applied = await cluster.succeed(strictly, JSON.stringify(list))
    expect(applied.trim().split('\n')).toHaveLength(manifests.length)
  })

  test('are one file per kind', () => {
    expect(files).toEqual(kinds.map(({ definition }) => `kinds/${definition.plural}.yaml`).sort())
  })
})

test('no two examples are the same resource', async () => {
  const all = await Promise.all(globSync('*/*.yaml', { cwd: folder }).map(manifestsIn))
  const names = all.flat().map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})
