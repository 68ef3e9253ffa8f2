import fc from 'fast-check'
import { Type } from 'typebox'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { toCRD } from '../../scripts/crds/crd.ts'
import { toYaml } from '../../scripts/crds/yaml.ts'
import { object } from '../../src/schema/define.ts'
import { CrdCluster } from '../builders/crd-cluster.ts'
import { sampleKind } from '../builders/sample-kind.ts'
import { type SchemaCase, schemaCase } from '../builders/schema-cases.ts'
import './provided.ts'

/** Fixed, so that a failure names the same schema again. */
const seed = 20261121
const cases: readonly SchemaCase[] = fc.sample(schemaCase, { numRuns: 40, seed })
const fields = cases.map((each, index) => [`field${index}`, each] as const)
const definition = {
  ...sampleKind,
  group: 'agreement.example',
  categories: [],
  shortNames: [],
  printerColumns: [],
  selectableFields: [],
  spec: object(Object.fromEntries(fields.map(([name, { schema }]) => [name, Type.Optional(schema)])), {
    description: 'Fields of any sort.',
  }),
}
let cluster: CrdCluster

beforeAll(async () => {
  cluster = await CrdCluster.open(inject('kubectlPath'), inject('kubeconfigPath'))
  await cluster.establish(toYaml(toCRD(definition)))
})

afterAll(async () => {
  await cluster.succeed(['delete', 'crd', 'samples.agreement.example', '--timeout=60s'])
  await cluster[Symbol.asyncDispose]()
})

/** The apiserver drops null from fields that are not nullable before it validates; the validator refuses it. */
function holdsNull(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.values(value).some(holdsNull))
}

/** Creates one resource per value, without keeping it; returns the names of those that the apiserver refused. */
async function refused(values: readonly (readonly [field: string, value: unknown])[]) {
  const items = values.map(([field, value], index) => ({
    apiVersion: 'agreement.example/v1alpha1',
    kind: 'Sample',
    metadata: { name: `${field}-${index}` },
    spec: { [field]: value },
  }))
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  const { stdout } = await cluster.kubectl.run(['create', '--dry-run=server', '-o', 'name', '-f', '-'], { stdin: list })
  const created = new Set(stdout.split('\n'))
  return items.map(({ metadata: { name } }) => name).filter((name) => !created.has(`sample.agreement.example/${name}`))
}

test('the apiserver accepts what the validator accepts', async () => {
  const values = fields.flatMap(([name, { valid }]) =>
    fc.sample(valid, { numRuns: 3, seed }).map((value) => [name, value] as const),
  )
  expect(await refused(values)).toEqual([])
})

test('the apiserver refuses what the validator refuses', async () => {
  const values = fields.flatMap(([name, { invalid }]) =>
    fc
      .sample(invalid, { numRuns: 4, seed })
      .filter((value) => !holdsNull(value))
      .map((value) => [name, value] as const),
  )
  expect(values.length).toBeGreaterThan(fields.length)
  expect(await refused(values)).toHaveLength(values.length)
})
