import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { runProgram } from '../../../controlplane/run-program.ts'
import { writeKrewPlugin } from '../../../scripts/krew.ts'
import { toolPath } from '../../chart/support/tools.ts'
import { World } from '../support/world.ts'

test('Krew installs kubectl culvert from its manifest, and kubectl runs it', {
  tags: 'nightly',
  timeout: 600_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'culvert-krew-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeKrewPlugin({ folder, uri: 'https://example.com/culvert.tar.gz' })
  const krew = await toolPath('krew', (message) => console.log(message))
  const root = join(folder, 'krew')
  const files = [`--manifest=${join(folder, 'culvert.yaml')}`, `--archive=${join(folder, 'culvert.tar.gz')}`]
  const installed = await runProgram(krew, ['install', ...files], { env: { ...process.env, KREW_ROOT: root } })
  expect(installed.code, installed.stderr).toBe(0)
  expect(installed.stderr).toContain('Needs Node 24 or newer')

  await using world = await World.open()
  await world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } })
  await world.ready('Backend', 'web')
  const PATH = [join(root, 'bin'), dirname(process.execPath), process.env.PATH].join(':')
  const args = ['culvert', 'get', 'backends', '-n', world.namespace]
  const env = { ...process.env, PATH, KUBECONFIG: world.kubeconfig }
  const { code, stdout, stderr } = await runProgram(inject('kubectlPath'), args, { env })
  expect(code, stderr).toBe(0)
  expect(stdout).toMatch(/Backend\/web +Ready/)
})
