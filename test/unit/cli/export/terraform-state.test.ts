import { expect, test } from 'vitest'
import { parseTerraformState } from '../../../../src/cli/export/terraform-state.ts'

const state = {
  version: 4,
  terraform_version: '1.9.0',
  resources: [
    {
      mode: 'managed',
      type: 'tunnel_ip_policy',
      name: 'Office_EU',
      instances: [{ attributes: { id: 'ipp_1', description: 'x' } }],
    },
    {
      module: 'module.shop',
      mode: 'managed',
      type: 'tunnel_api_key',
      name: 'ci',
      instances: [
        { index_key: 'eu', attributes: { id: 'ak_1', token: 'a-secret' } },
        { index_key: 1, attributes: { id: 'ak_2' } },
      ],
    },
    { mode: 'data', type: 'tunnel_ip_policy', name: 'other', instances: [{ attributes: { id: 'ipp_2' } }] },
    { mode: 'managed', type: 'random_id', name: 'broken', instances: [{ attributes: null }, {}] },
  ],
}

test('a state file names the objects that it manages, and no others', () => {
  expect([...parseTerraformState(JSON.stringify(state), 'state')]).toEqual([
    ['ipp_1', { name: 'office-eu', address: 'tunnel_ip_policy.Office_EU' }],
    ['ak_1', { name: 'ci-eu', address: 'module.shop.tunnel_api_key.ci["eu"]' }],
    ['ak_2', { name: 'ci-1', address: 'module.shop.tunnel_api_key.ci[1]' }],
  ])
})

test.each([
  ['{"version":3,"modules":[]}', 'state has version 3: use a state of version 4'],
  ['{}', 'state has no version'],
  ['a-secret', 'state is not JSON'],
])('%j is refused with what to give instead, and not quoted', (text, message) => {
  expect(() => parseTerraformState(text, 'state')).toThrow(message)
  expect(() => parseTerraformState(text, 'state')).not.toThrow('a-secret')
})
