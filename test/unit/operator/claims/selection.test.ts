import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../src/kube/types.ts'
import type { AccountResource } from '../../../../src/managed/account-resource.ts'
import { Selection, type Selectors } from '../../../../src/operator/claims/selection.ts'

const red = { matchLabels: { team: 'red' } }
const notRed = { matchExpressions: [{ key: 'team', operator: 'NotIn' as const, values: ['red'] }] }

function selection(selectors: Selectors, namespaces: Readonly<Record<string, Readonly<Record<string, string>>>> = {}) {
  return new Selection(selectors, (name) => {
    const labels = namespaces[name]
    return labels === undefined ? undefined : ({ metadata: { name, labels } } as unknown as KubeObject)
  })
}

function account(labels: Readonly<Record<string, string>> | undefined, namespace?: string): AccountResource {
  return {
    kind: namespace === undefined ? 'ClusterAccount' : 'Account',
    metadata: { namespace, labels },
  } as AccountResource
}

test('without selectors, every account is selected, and nothing is divided', () => {
  const all = selection({})
  expect(all.isPartial).toBe(false)
  expect(all.selects(account(undefined, 'shop'))).toBe(true)
  expect(all.selects(account(undefined))).toBe(true)
})

test.each([
  ['its labels', { accounts: red }, { team: 'red' }, {}, true],
  ['other labels', { accounts: red }, { team: 'blue' }, { team: 'red' }, false],
  ["its namespace's labels", { namespaces: red }, {}, { team: 'red' }, true],
  ['another namespace', { namespaces: red }, { team: 'red' }, { team: 'blue' }, false],
  ['both', { accounts: red, namespaces: red }, { team: 'red' }, { team: 'red' }, true],
  ['only one of both', { accounts: red, namespaces: red }, { team: 'red' }, {}, false],
])('an Account is selected by %s', (_title, selectors, labels, shop, isSelected) => {
  expect(selection(selectors, { shop }).selects(account(labels, 'shop'))).toBe(isSelected)
})

test('a namespace that is not known yet is not selected, not even by labels that it must not have', () => {
  expect(selection({ namespaces: notRed }).selects(account({}, 'shop'))).toBe(false)
  expect(selection({ namespaces: notRed }, { shop: {} }).selects(account({}, 'shop'))).toBe(true)
})

test('a ClusterAccount is selected by its own labels only', () => {
  expect(selection({ accounts: red, namespaces: red }).selects(account({ team: 'red' }))).toBe(true)
  expect(selection({ namespaces: red }).selects(account({}))).toBe(true)
  expect(selection({ accounts: red }).selects(account({}))).toBe(false)
})
