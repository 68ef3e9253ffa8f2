import { describe, expect, test } from 'vitest'
import { secretType } from '../../../../src/kube/core-types.ts'
import type { AccountResource } from '../../../../src/managed/account-resource.ts'
import { accountConfig } from '../../../../src/managed/accounts/account-config.ts'
import { KeptKeys } from '../../../../src/managed/accounts/kept-key.ts'
import { ModelKube } from '../../../builders/model-kube.ts'
import { KubeProcess } from '../../../faults/simulation/kube-client.ts'
import { VirtualTime } from '../../../faults/simulation/virtual-time.ts'

const account = { kind: 'Account', namespace: 'shop', name: 'main' } as const

async function configWith(apiKey: string | undefined, metadata = {}) {
  const time = new VirtualTime()
  const kube = new ModelKube()
  const { client } = new KubeProcess(kube, time)
  if (apiKey !== undefined) {
    const data = { apiKey: Buffer.from(apiKey).toString('base64') }
    kube.create(secretType, { namespace: 'shop', name: 'key' }, { data })
  }
  const context = {
    kube: client,
    keptKeys: new KeptKeys(client, 'culvert-system'),
    operatorNamespace: 'culvert-system',
    resources: { keyIssuersOf: () => [] },
    baseURLPolicy: { allowedHosts: ['api.example.com'] },
  }
  const resource = {
    kind: 'Account',
    metadata: { namespace: 'shop', name: 'main', uid: 'uid', ...metadata },
    spec: { baseURL: 'https://api.example.com', apiKeySecretRef: { name: 'key' } },
  }
  const config = accountConfig(context as never, account, resource as unknown as AccountResource)
  await time.advance(1000)
  return await config
}

describe('the API key of an account', () => {
  test.each(['key', 'key\n', 'key\r\n', ' key '])('is used without what surrounds it: %j', async (stored) => {
    expect(await configWith(stored)).toMatchObject({ apiKey: 'key' })
  })

  test('is asked for where the account can take it: in its namespace, or as a copy while it is deleted', async () => {
    const missing = 'spec.apiKeySecretRef: Secret key with key apiKey does not exist in namespace shop'
    expect(await configWith(undefined)).toMatchObject({ message: `${missing}: create it` })
    expect(await configWith(undefined, { deletionTimestamp: '2026-11-24T09:00:00Z' })).toMatchObject({
      reason: 'SecretMissing',
      message: `${missing}. For the deletion, run this and enter a key of the account: kubectl create secret generic culvert-key-uid -n culvert-system --from-file=apiKey=/dev/stdin`,
    })
  })

  test.each(['key\n\n', 'key\tother', '\0key'])(
    'with another control character is refused by its Secret and key: %j',
    async (stored) => {
      const problem = await configWith(stored)
      expect(problem).toMatchObject({ reason: 'InvalidInput', stalled: true })
      expect(JSON.stringify(problem)).toContain('spec.apiKeySecretRef: key apiKey of Secret key contains')
    },
  )
})
