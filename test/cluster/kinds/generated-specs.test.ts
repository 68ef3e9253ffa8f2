import fc from 'fast-check'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { kinds } from '../../../src/kinds/index.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { CrdCluster } from '../../builders/crd-cluster.ts'
import { specsFrom } from '../../builders/schema-specs.ts'
import { nightlyUnlessVaried, testsOf } from '../../kinds/lookup.ts'
import '../provided.ts'

/** Fixed, so that a failure names the same specs again. */
const seed = 20261121
const numRuns = 25
const managed = kinds.filter(({ role }) => role === 'managed').map(({ definition }) => definition)
let cluster: CrdCluster

beforeAll(async () => {
  cluster = await CrdCluster.open(inject('kubectlPath'), inject('kubeconfigPath'))
})

afterAll(() => cluster[Symbol.asyncDispose]())

for (const definition of managed) {
  const { group, version, kind } = definition
  const tags = nightlyUnlessVaried(kind)
  test(`the apiserver accepts any ${kind} that is generated from its schema`, { tags }, async () => {
    const schema = toStructural(definition.spec, 'spec')
    const specs = fc.sample(specsFrom(schema, testsOf(kind).places), { seed, numRuns })
    const items = specs.map((spec, index) => {
      const metadata = { name: `generated-${index}`, namespace: 'default' }
      return { apiVersion: `${group}/${version}`, kind, metadata, spec }
    })
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
    const { stderr } = await cluster.kubectl.run(['create', '--dry-run=server', '-f', '-'], { stdin: list })
    expect(stderr).toBe('')
  })
}
