import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { collections } from '../../../src/api/collections.ts'

it('the collections are those of the contract, with their list keys', () => {
  const contract = readFileSync(new URL('../../../docs/management-api.md', import.meta.url), 'utf8')
  const section = contract.slice(
    contract.indexOf('### Standard operations'),
    contract.indexOf('### Tunnel sessions', contract.indexOf('### Standard operations')),
  )
  const rows = [...section.matchAll(/^\| ([a-z_/]+) \| ([a-z_]+) \|/gm)].map((row) => [row[1], row[2]])
  expect(rows).toHaveLength(22)
  const ours = Object.values(collections).map(({ path, listKey }) => [path, listKey])
  expect(ours).toEqual([...rows, ['tunnel_sessions', 'tunnel_sessions']])
})
