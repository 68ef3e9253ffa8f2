import { expect, test } from 'vitest'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import { describeNameHolder, type NameHolder } from '../../../../src/managed/identity/name-holder.ts'

const keeper = (namespace: string): CustomResource => ({
  apiVersion: 'culvert.dev/v1alpha1',
  kind: 'Edge',
  metadata: { namespace, name: 'db', uid: 'u', resourceVersion: '1' },
  spec: {},
})
const told = (fields: Partial<NameHolder>): string | undefined => {
  return describeNameHolder({
    namespace: 'shop',
    id: 'edgtcp_1',
    keeper: undefined,
    isElsewhere: false,
    isShared: false,
    ...fields,
  })
}

test('a resource of the same namespace is named, whether or not others share the account', () => {
  for (const isShared of [false, true]) {
    expect(told({ keeper: keeper('shop'), isShared })).toMatch(/^Edge\/db in this namespace: /)
  }
})

test('of a resource of another namespace neither namespace nor name is shown', () => {
  const message = told({ keeper: keeper('blog') })
  expect(message).toMatch(/^a resource in another namespace: /)
  expect(message).not.toMatch(/blog|db|edgtcp_1/)
})

test('another installation, and what nobody has, are named by the id, with the way out', () => {
  expect(told({ isElsewhere: true })).toMatch(/^edgtcp_1 of another installation: /)
  expect(told({})).toMatch(/^edgtcp_1, which no resource here manages: adopt it/)
})

test('a tenant that shares an account learns nothing of what is in other namespaces', () => {
  const others = [{ keeper: keeper('blog') }, { isElsewhere: true }, {}]
  expect(others.map((each) => told({ ...each, isShared: true }))).toEqual([undefined, undefined, undefined])
})
