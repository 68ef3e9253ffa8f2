import { expect, test } from 'vitest'
import { type OperatorOptions, refuseUnsafeSelectors } from '../../../src/operator/options.ts'

const safe = {
  selectors: { accounts: { matchLabels: { team: 'red' } } },
  installation: 'one',
  leaderElect: true,
  watchNamespaces: [],
} as unknown as OperatorOptions
const byNamespace = { namespaces: { matchLabels: { team: 'red' } } }

test('operators divide accounts with a common installation id and a Lease', () => {
  expect(() => refuseUnsafeSelectors(safe)).not.toThrow()
  expect(() => refuseUnsafeSelectors({ ...safe, selectors: byNamespace })).not.toThrow()
  expect(() => refuseUnsafeSelectors({ ...safe, watchNamespaces: ['shop'] })).not.toThrow()
})

test('without selectors, nothing else is needed', () => {
  const { selectors: _, ...without } = { ...safe, installation: undefined, leaderElect: false }
  expect(() => refuseUnsafeSelectors(without)).not.toThrow()
  expect(() => refuseUnsafeSelectors({ ...without, selectors: {} })).not.toThrow()
})

test.each<[what: string, changes: Partial<OperatorOptions>, message: RegExp]>([
  ['an installation id', { installation: undefined }, /^--account-selector needs --installation: give/],
  [
    'an installation id',
    { installation: undefined, selectors: byNamespace },
    /^--namespace-selector needs --installation/,
  ],
  ['the Lease', { leaderElect: false }, /remove --no-leader-elect$/],
  ['all namespaces', { watchNamespaces: ['shop'], selectors: byNamespace }, /remove --watch-namespace$/],
])('a selector without %s is refused with the remedy', (_what, changes, message) => {
  expect(() => refuseUnsafeSelectors({ ...safe, ...changes })).toThrow(message)
})
