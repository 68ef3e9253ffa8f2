import { expect, test } from 'vitest'
import { rootSchema } from '../../../../scripts/crds/crd.ts'
import { kinds } from '../../../../src/kinds/index.ts'
import type { ReferenceGrant } from '../../../../src/managed/descriptor/grant.ts'
import { type GrantedNamespace, permits } from '../../../../src/managed/references/crossings.ts'

const labelled = { name: 'blog', labels: { team: 'blog' } }
const unknown = { name: 'blog', labels: undefined }
const trusted = { namespaceSelector: { matchLabels: { team: 'blog' } } }

test.each([
  ['nothing', undefined, labelled, false],
  ['no entry', [], labelled, false],
  ['its name', [{ namespaces: ['shop', 'blog'] }], labelled, true],
  ['another name', [{ namespaces: ['shop'] }], labelled, false],
  ['its labels', [trusted], labelled, true],
  ['other labels', [{ namespaceSelector: { matchLabels: { team: 'shop' } } }], labelled, false],
  ['every namespace', [{ namespaceSelector: {} }], labelled, true],
  ['the second of two entries', [{ namespaces: ['shop'] }, trusted], labelled, true],
  ['its name, where labels are not known', [{ namespaces: ['blog'] }], unknown, true],
  ['labels, where these are not known', [trusted, { namespaceSelector: {} }], unknown, false],
  ['an entry of neither', [{}], labelled, false],
] satisfies [string, ReferenceGrant[] | undefined, GrantedNamespace, boolean][])(
  'a namespace is permitted by %s',
  (_by, grants, namespace, expected) => {
    expect(permits(grants, namespace)).toBe(expected)
  },
)

test('exactly the kinds that others refer to have grants', () => {
  const managed = kinds.filter((kind) => kind.role === 'managed')
  const referred = new Set(managed.flatMap(({ references }) => references.kinds.map(({ kind }) => kind)))
  // A rule is part of a policy, and does not count as its dependent.
  const granting = managed.filter(({ definition }) => {
    return rootSchema(definition).properties?.spec?.properties?.allowedReferences !== undefined
  })
  expect(new Set(granting.map(({ definition }) => definition.kind))).toEqual(
    new Set([...referred].filter((kind) => managed.some(({ definition }) => definition.kind === kind))),
  )
})
