import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { buildFlags, defaultCacheFolder } from '../../../controlplane/build.ts'
import { goRemedies } from '../../../controlplane/go-toolchain.ts'
import { runProgram } from '../../../controlplane/run-program.ts'

const MAIN = join(import.meta.dirname, '..', '..', '..', 'controlplane', 'main.ts')

it('keeps builds in the cache folder of the user', () => {
  expect(defaultCacheFolder({}, '/home/ada')).toBe('/home/ada/.cache/culvert/controlplane')
  expect(defaultCacheFolder({ XDG_CACHE_HOME: '' }, '/home/ada')).toBe('/home/ada/.cache/culvert/controlplane')
  expect(defaultCacheFolder({ XDG_CACHE_HOME: '/var/cache/ada' }, '/home/ada')).toBe(
    '/var/cache/ada/culvert/controlplane',
  )
})

it('tells the programs their version at link time', () => {
  expect(buildFlags('1.36.3').at(-1)).toBe(
    '-s -w -X k8s.io/component-base/version.gitVersion=v1.36.3 -X k8s.io/component-base/version.gitMajor=1' +
      ' -X k8s.io/component-base/version.gitMinor=36 -X k8s.io/component-base/version.gitTreeState=clean',
  )
})

it('ends the command with the remedies when there is no Go and nothing is built yet', async () => {
  const cache = await mkdtemp(join(tmpdir(), 'culvert-test-'))
  try {
    const env = { PATH: '/nonexistent', HOME: cache, XDG_CACHE_HOME: cache, CULVERT_ENVTEST_URL: '' }
    const { code, stdout, stderr } = await runProgram(process.execPath, [MAIN], { env })
    expect(stderr).toContain(goRemedies())
    expect(stdout).toBe('')
    expect(code).toBe(1)
  } finally {
    await rm(cache, { recursive: true })
  }
})
