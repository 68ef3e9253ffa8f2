import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { aimAtEmulator, customResources, readManifests, toYaml } from '../../../../src/cli/demo/demo-manifests.ts'
import { parseManifestsAt } from '../../../../src/cli/manifests.ts'
import { kinds } from '../../../../src/kinds/index.ts'

const text = `
# The account.
apiVersion: culvert.dev/v1alpha1
kind: Account
metadata: { name: default, namespace: a }
spec: { baseURL: https://api.example.com, apiKeySecretRef: { name: credentials } }
---
apiVersion: culvert.dev/v1alpha1
kind: ClusterAccount
metadata: { name: shared }
spec: { baseURL: https://api.example.com, apiKeySecretRef: { name: shared, key: token } }
---
apiVersion: v1
kind: Secret
metadata: { name: credentials, namespace: a }
stringData: { apiKey: theirs }
---
apiVersion: v1
kind: Secret
metadata: { name: shared, namespace: b }
stringData: { token: theirs }
---
apiVersion: v1
kind: Secret
metadata: { name: monitoring, namespace: a }
stringData: { apiKey: untouched }
---
`

const read = (content: string) => parseManifestsAt(content, 'test.yaml').map(({ manifest }) => manifest)
const manifests = read(text)
const emulator = { url: 'http://127.0.0.1:1234', apiKey: 'ours' }

describe('manifests', () => {
  test('of the quickstart use every kind that declares something', async () => {
    const quickstart = fileURLToPath(new URL('../../../../examples/quickstart', import.meta.url))
    const used = new Set(customResources(await readManifests(quickstart)).map(({ kind }) => kind))
    const declaring = kinds.filter(({ role }) => role === 'managed' || role === 'account')
    expect(used).toEqual(new Set(declaring.map(({ definition }) => definition.kind)))
  })

  test('of the examples leave the operator’s namespace alone, so that deleting them stops no operator', async () => {
    const examples = globSync(fileURLToPath(new URL('../../../../examples/*', import.meta.url)))
    const all = (await Promise.all(examples.map(readManifests))).flat()
    const namespaces = all.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name)
    expect(namespaces.sort()).toEqual(['quickstart', 'traffic'])
  })

  test('are the same after writing and reading them', () => {
    expect(read(toYaml(manifests))).toEqual(manifests)
  })

  test('name the custom resources among them, in their order', () => {
    expect(customResources(manifests)).toEqual([
      { kind: 'Account', namespace: 'a', name: 'default' },
      { kind: 'ClusterAccount', namespace: undefined, name: 'shared' },
    ])
  })
})

describe('aiming at the emulator', () => {
  const aimed = aimAtEmulator(manifests, emulator)

  test('changes the address of every account and nothing else of it', () => {
    expect(aimed[0]).toEqual({
      ...manifests[0],
      spec: { baseURL: emulator.url, apiKeySecretRef: { name: 'credentials' } },
    })
    expect(aimed[1]?.spec).toMatchObject({ baseURL: emulator.url })
  })

  test('puts the key into the Secrets that accounts name, under the key that they name', () => {
    expect(aimed[2]?.stringData).toEqual({ apiKey: 'ours' })
    expect(aimed[3]?.stringData).toEqual({ token: 'ours' })
  })

  test('leaves other Secrets alone', () => {
    expect(aimed[4]).toBe(manifests[4])
  })
})
