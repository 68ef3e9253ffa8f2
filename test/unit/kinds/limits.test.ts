import { expect, test } from 'vitest'
import { kinds } from '../../../src/kinds/index.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { allCollections, createFields } from '../../contract/facts/all.ts'
import type { Limit } from '../../contract/facts/facts.ts'

interface Limited extends Limit {
  readonly id: string
  readonly name: string
  readonly kind: string
}

const limited: readonly Limited[] = allCollections.flatMap((row) =>
  createFields(row).flatMap(({ id, name, sent }) => {
    if (sent?.shape.kind !== 'string' || sent.shape.limit === undefined) return []
    const kind = kinds.find((each) => {
      return each.role === 'managed' && each.identity.collections.some(({ path }) => path === row.path)
    })
    return [{ id, name, kind: kind?.definition.kind ?? '', ...sent.shape.limit }]
  }),
)

test.each(limited)('$id: the spec takes $max $unit and no more', ({ name, kind, max, unit }) => {
  const definition = kinds.find((each) => each.definition.kind === kind)?.definition
  const spec = definition && toStructural(definition.spec, 'spec')
  // The map `metadata` has a lower limit, so that the marker fits beside it.
  const field = spec?.properties?.[name === 'metadata' ? 'rawMetadata' : name]
  expect(field?.maxLength).toBe(max)
  const rules = (field?.['x-kubernetes-validations'] ?? []).map(({ rule }) => rule)
  if (unit === 'bytes') expect(rules).toContain(`size(bytes(self)) <= ${max}`)
  else expect(rules.join(' ')).not.toContain('bytes')
})
