import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, inject, onTestFinished, test } from 'vitest'
import { runProgram } from '../../../controlplane/run-program.ts'
import { readYaml } from '../../../src/util/yaml/read.ts'

const CONFIGURATION = fileURLToPath(new URL('../../../gitops/kustomize/name-reference.yaml', import.meta.url))

const KUSTOMIZATION = `
namePrefix: staging-
namespace: shop
configurations: [name-reference.yaml]
resources: [base.yaml]
secretGenerator:
- name: credentials
  literals: [apiKey=key]
`

const resource = (kind: string, name: string, spec: object) => {
  return JSON.stringify({ apiVersion: 'culvert.dev/v1alpha1', kind, metadata: { name }, spec })
}
const accountRef = { kind: 'Account', name: 'main' }
const BASE = [
  resource('Account', 'main', { baseURL: 'https://api.example.com', apiKeySecretRef: { name: 'credentials' } }),
  resource('IPPolicy', 'office', { accountRef, rules: [{ cidr: '192.0.2.0/24', action: 'Allow' }] }),
  resource('ReservedAddress', 'db', { accountRef }),
  resource('Backend', 'shop', { accountRef, type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }),
  resource('Backend', 'both', { type: 'Failover', failover: { backendRefs: [{ name: 'shop' }, { id: 'bkdtg_1' }] } }),
  resource('Edge', 'db', {
    accountRef,
    protocol: 'TCP',
    hostports: [{ type: 'ReservedAddress', reservedAddressRef: { name: 'db' } }],
    backend: { name: 'shop' },
    ipRestriction: { ipPolicyRefs: [{ name: 'office' }] },
  }),
].join('\n---\n')

test('kustomize renames references with what they refer to', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'culvert-kustomize-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await copyFile(CONFIGURATION, join(folder, 'name-reference.yaml'))
  await writeFile(join(folder, 'kustomization.yaml'), KUSTOMIZATION)
  await writeFile(join(folder, 'base.yaml'), BASE)
  const { code, stdout, stderr } = await runProgram(inject('kubectlPath'), ['kustomize', folder])
  expect(code, stderr).toBe(0)
  const built = new Map(
    readYaml(stdout).map(({ value }) => {
      const { kind, metadata, spec } = value as { kind: string; metadata: { name: string }; spec: unknown }
      return [`${kind}/${metadata.name}`, spec]
    }),
  )
  const secret = [...built.keys()].find((name) => name.startsWith('Secret/'))?.slice('Secret/'.length)
  expect(secret).toMatch(/^staging-credentials-/)
  expect(built.get('Account/staging-main')).toMatchObject({ apiKeySecretRef: { name: secret } })
  expect(built.get('Backend/staging-both')).toMatchObject({
    failover: { backendRefs: [{ name: 'staging-shop' }, { id: 'bkdtg_1' }] },
  })
  expect(built.get('Edge/staging-db')).toMatchObject({
    accountRef: { name: 'staging-main' },
    hostports: [{ reservedAddressRef: { name: 'staging-db' } }],
    backend: { name: 'staging-shop' },
    ipRestriction: { ipPolicyRefs: [{ name: 'staging-office' }] },
  })
})
