import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { createFolder, removeFolder, writeKubeconfigs } from '../../../controlplane/folder.ts'

const permissions = async (path: string): Promise<number> => (await stat(path)).mode & 0o777

it('keeps its tokens and keys from other users, and goes away whole', async () => {
  const folder = await createFolder('Metadata')
  await writeKubeconfigs(folder, 'https://127.0.0.1:20000', Buffer.from('ca'))
  expect(await permissions(folder.path)).toBe(0o700)
  for (const file of [
    folder.tokenFile,
    folder.serviceAccountKeyFile,
    folder.adminKubeconfig,
    folder.controllerKubeconfig,
  ]) {
    expect(await permissions(file)).toBe(0o600)
  }
  await removeFolder(folder)
  expect(existsSync(folder.path)).toBe(false)
})

it('never records the content of Secrets', async () => {
  const folder = await createFolder('RequestResponse')
  const policy = JSON.parse(await readFile(folder.auditPolicyFile, 'utf8'))
  await removeFolder(folder)
  const levels = policy.rules.map((rule: { level: string }) => rule.level)
  const secrets = policy.rules.findIndex((rule: { resources?: { resources: string[] }[] }) =>
    rule.resources?.some((entry) => entry.resources.includes('secrets')),
  )
  expect(levels[secrets]).toBe('Metadata')
  expect(levels.indexOf('RequestResponse')).toBeGreaterThan(secrets)
})
