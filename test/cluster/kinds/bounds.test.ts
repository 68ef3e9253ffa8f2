import { expect, inject, test } from 'vitest'
import { kinds } from '../../../src/kinds/index.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { CrdCluster } from '../../builders/crd-cluster.ts'
import { brokenBounds, complaints } from '../../builders/kinds/broken-bounds.ts'
import { nightlyUnlessVaried } from '../../kinds/lookup.ts'
import '../provided.ts'

/** What the apiserver says of each resource of a list, by name; one that it takes has no entry. */
async function refusals(kind: string, items: readonly object[]): Promise<ReadonlyMap<string, string>> {
  await using cluster = await CrdCluster.open(inject('kubectlPath'), inject('kubeconfigPath'))
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  const { stderr } = await cluster.kubectl.run(['create', '--dry-run=server', '--validate=false', '-f', '-'], {
    stdin: list,
  })
  const said = stderr.split(`${kind}.culvert.dev "`).slice(1)
  return new Map(said.map((each) => [each.slice(0, each.indexOf('"')), each]))
}

/** Of a kind that only shows something, nobody writes a spec. */
const declared = kinds.filter(({ role }) => role !== 'mirror')

for (const { definition } of declared) {
  const { kind } = definition
  test(`every bound in the spec of ${kind} is kept by the apiserver, which names the field`, {
    tags: nightlyUnlessVaried(kind),
  }, async () => {
    const rows = brokenBounds(toStructural(definition.spec, 'spec')).map((row, index) => ({
      ...row,
      name: `row-${index}`,
    }))
    const { group, version, scope } = definition
    const namespace = scope === 'Namespaced' ? { namespace: 'default' } : {}
    const items = rows.map(({ name, spec }) => {
      return { apiVersion: `${group}/${version}`, kind, metadata: { name, ...namespace }, spec }
    })
    const said = await refusals(kind, items)
    const unkept = rows.filter(({ name, path, bound }) => {
      // Of a map's value, a rule says `[key]` where a bound of the schema says `.key`.
      const about = (said.get(name) ?? '')
        .replaceAll('[key]', '.key')
        .split(/(?<![\w.])(?=spec[\w.[\]]*: )/)
        .filter((each) => each.startsWith(`${path}: `))
      return !about.some((each) => complaints[bound].test(each))
    })
    expect(unkept.map(({ name, path, bound }) => `${path} ${bound}: ${said.get(name)?.slice(0, 300)}`)).toEqual([])
    expect(rows.length).toBeGreaterThan(5)
  })
}
