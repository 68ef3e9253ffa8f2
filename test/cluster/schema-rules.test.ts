import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { toCRD } from '../../scripts/crds/crd.ts'
import { toYaml } from '../../scripts/crds/yaml.ts'
import { CrdCluster } from '../builders/crd-cluster.ts'
import { sampleKind } from '../builders/sample-kind.ts'
import './provided.ts'

/** A group of its own, so that other tests' `kubectl get culvert` does not see it. */
const definition = { ...sampleKind, group: 'schema.example', categories: [], shortNames: [] }
let cluster: CrdCluster

describe('the rules that the builders generate', () => {
  beforeAll(async () => {
    cluster = await CrdCluster.open(inject('kubectlPath'), inject('kubeconfigPath'))
    await cluster.establish(toYaml(toCRD(definition)))
  })
  afterAll(async () => {
    await cluster.succeed(['delete', 'crd', 'samples.schema.example', '--timeout=60s'])
    await cluster[Symbol.asyncDispose]()
  })

  const good = { hostports: [{ host: 'a', port: 1 }] }

  async function applied(name: string, spec: object): Promise<string> {
    const manifest = { apiVersion: 'schema.example/v1alpha1', kind: 'Sample', metadata: { name }, spec }
    const { code, stderr } = await cluster.kubectl.run(['apply', '--server-side', '-f', '-'], {
      stdin: JSON.stringify(manifest),
    })
    expect(code === 0).toBe(stderr === '')
    return stderr
  }

  test.each<[string, object, string]>([
    [
      'a text with too many bytes',
      { ...good, description: 'é'.repeat(128) },
      'description must have at most 255 bytes of UTF-8',
    ],
    ['none of a union', { hostports: [{ port: 1 }] }, 'set exactly one of host, reservedDomain'],
    [
      'two of a union',
      { hostports: [{ host: 'a', reservedDomain: 'b', port: 1 }] },
      'set exactly one of host, reservedDomain',
    ],
    ['a word outside of the choice', { ...good, region: 'jp' }, 'spec.region: Unsupported value: "jp"'],
    ['a text that does not match', { ...good, key: 'A' }, 'spec.key: Invalid value: "A"'],
    ['too many entries', { ...good, labels: { a: '', b: '', c: '', d: '', e: '' } }, 'spec.labels: Too many: 5'],
    ['an unknown field', { ...good, zone: 'a' }, '.spec.zone: field not declared in schema'],
    ['no items', { hostports: [] }, 'spec.hostports: Invalid value: 0'],
  ])('%s is refused', async (_, spec, message) => {
    expect(await applied('bad', spec)).toContain(message)
  })

  test('a text of the maximum number of bytes is accepted, and defaults are filled in', async () => {
    expect(await applied('good', { ...good, description: 'é'.repeat(127) })).toBe('')
    expect(await cluster.succeed(['get', 'samples.schema.example', 'good', '-o', 'jsonpath={.spec.region}'])).toBe('us')
  })

  test('a fixed field cannot change, and one that is fixed once set can only be added', async () => {
    expect(await applied('fixed', { ...good, region: 'us' })).toBe('')
    expect(await applied('fixed', { ...good, region: 'eu' })).toContain('spec.region: Forbidden: region is immutable')
    expect(await applied('fixed', { ...good, region: 'us', namespace: 'a' })).toBe('')
    expect(await applied('fixed', { ...good, region: 'us', namespace: 'b' })).toContain(
      'namespace is immutable once set',
    )
    expect(await applied('fixed', { ...good, region: 'us' })).toContain('namespace is immutable once set')
  })
})
