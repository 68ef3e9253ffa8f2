import type { KindTestData } from './kind-test-data.ts'
import { accountRefusals, refuse } from './shared/refusals.ts'

export const clusterAccount: KindTestData = {
  kind: 'ClusterAccount',
  accepted: {
    baseURL: 'https://api.example.com',
    apiKeySecretRef: { name: 'key' },
    access: [{ namespaceSelector: {} }],
  },
  refusals: [
    ...accountRefusals({ namespace: 'a' }),
    refuse(
      'with an expression without values',
      { access: [{ namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }] },
      'values is required with the operators In and NotIn',
    ),
    refuse(
      'for namespaces with a label of a long name',
      { access: [{ namespaceSelector: { matchLabels: { ['a'.repeat(506)]: 'x' } } }] },
      'matchLabels must have at most 512 bytes in total',
    ),
    refuse(
      'with more of labels than a spec has room for',
      { access: [{ namespaceSelector: {}, labels: { ['a'.repeat(200)]: 'b'.repeat(60) } }] },
      'labels must have at most 256 bytes in total',
    ),
  ],
}
