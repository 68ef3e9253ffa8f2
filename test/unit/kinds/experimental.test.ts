import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { rootSchema } from '../../../scripts/crds/crd.ts'
import { placesOf } from '../../../scripts/lints/lint.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { isExperimental } from '../../../src/schema/definition.ts'

const page = await readFile(new URL('../../../docs/versioning.md', import.meta.url), 'utf8')

test('what says that it is experimental stands on the page of versions, with a reason', () => {
  const schemas = kinds.map(({ definition }) => ({ kind: definition.kind, schema: rootSchema(definition) }))
  const found = placesOf(schemas).filter(({ node }) => isExperimental(node.description))
  expect(found.length).toBeGreaterThan(0)
  for (const { place, name } of found) {
    expect(page, place).toMatch(new RegExp(`^\\|[^|]*(\\[${name}\\]|[\`.]${name}\`)[^|]*\\| \\S`, 'm'))
  }
})
