import type { KindTestData } from './kind-test-data.ts'
import { accountRefusals } from './shared/refusals.ts'

export const account: KindTestData = {
  kind: 'Account',
  accepted: { baseURL: 'https://api.example.com', apiKeySecretRef: { name: 'key' } },
  refusals: accountRefusals(),
}
