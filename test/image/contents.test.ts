import { lstat, readFile, readlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'
import { productionPackages } from '../../scripts/production-packages.ts'
import type { Sbom } from '../../scripts/sbom-document.ts'
import { imageEnv } from '../builders/image-env.ts'
import { Container } from './container.ts'
import { BUILT_AS } from './global-setup.ts'
import './provided.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const APP = '/usr/local/lib/culvert'

const image = inject('image')
const packages = await productionPackages(ROOT)

function inImage(path: string): string {
  return join(image.rootfs, path)
}

test('the image runs the command as a user by number, in production mode, with one malloc arena', () => {
  expect(image.config).toMatchObject({
    User: '65532:65532',
    Entrypoint: ['/usr/local/bin/culvert'],
    WorkingDir: '/',
    Env: expect.arrayContaining(['NODE_ENV=production', 'MALLOC_ARENA_MAX=1']),
  })
  expect(image.config.Volumes ?? {}).toEqual({})
})

test('the environment holds nothing but the path, the mode and the number of arenas', () => {
  expect(image.config.Env?.map((each) => each.split('=')[0]).sort()).toEqual(['MALLOC_ARENA_MAX', 'NODE_ENV', 'PATH'])
})

test('bench and the tests of the chart start Culvert with the environment of the image', () => {
  const entries = Object.entries(imageEnv()).map(([name, value]) => `${name}=${value}`)
  expect(entries.sort()).toEqual(image.config.Env?.filter((each) => !each.startsWith('PATH=')).sort())
})

test('labels say what it is, which version, and of which commit', () => {
  expect(image.config.Labels).toMatchObject({
    'org.opencontainers.image.title': 'Culvert',
    'org.opencontainers.image.description': expect.stringContaining('Kubernetes operator'),
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'org.opencontainers.image.version': BUILT_AS.version,
    'org.opencontainers.image.revision': BUILT_AS.revision,
    'org.opencontainers.image.base.name': 'docker.io/library/node:24-bookworm-slim',
  })
})

/**
 * No source maps, tests, sources, packages, caches of npm or configuration of the machine: these files are all there
 * is.
 */
test('over its base the image has the program, its licences and its bill of materials alone', () => {
  const chunk = new RegExp(`^${APP}/dist/[\\w-]+\\.js$`)
  expect(image.added.filter((path) => !chunk.test(path))).toEqual([
    '/usr/local/bin/culvert',
    APP,
    `${APP}/LICENSE`,
    `${APP}/THIRD-PARTY-NOTICES`,
    `${APP}/bin`,
    `${APP}/bin/culvert.js`,
    `${APP}/dist`,
    `${APP}/package.json`,
    `${APP}/page`,
    `${APP}/page/app.js`,
    `${APP}/page/htm.js`,
    `${APP}/page/model.js`,
    `${APP}/page/page.css`,
    `${APP}/page/page.html`,
    `${APP}/page/preact.js`,
    `${APP}/sbom.cdx.json`,
  ])
  expect(image.added.filter((path) => chunk.test(path)).map((path) => basename(path))).toContain('main.js')
})

test('nobody but root can change what runs', async () => {
  for (const path of image.added) {
    const { uid, gid, mode } = await lstat(inImage(path))
    const writable = (mode & 0o022) !== 0 && (mode & 0o170000) !== 0o120000
    expect({ path, uid, gid, writable, setuid: (mode & 0o6000) !== 0 }).toEqual({
      path,
      uid: 0,
      gid: 0,
      writable: false,
      setuid: false,
    })
  }
  expect(await readlink(inImage('/usr/local/bin/culvert'))).toBe('../lib/culvert/bin/culvert.js')
})

test('the program is plain text, the same on every platform', async () => {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  for (const path of image.added.filter((each) => each.endsWith('.js'))) {
    const text = utf8.decode(await readFile(inImage(path)))
    expect(text.includes('\0'), path).toBe(false)
    expect(text, path).not.toMatch(/^\/\/# sourceMappingURL=/m)
  }
})

test('the program imports nothing that is not in the image', async () => {
  const builtin = /^node:|^[a-z0-9_]+(\/[a-z]+)?$/
  for (const path of image.added.filter((each) => each.startsWith(`${APP}/dist/`))) {
    const text = await readFile(inImage(path), 'utf8')
    const named = [...text.matchAll(/^(?:import|export) .*?from "([^"]+)";$|^import "([^"]+)";$/gm)]
    for (const [, from, bare] of named) {
      const target = from ?? bare ?? ''
      const known = target.startsWith('./')
        ? image.added.includes(`${APP}/dist/${target.slice(2)}`)
        : builtin.test(target)
      expect({ path, target, known }).toEqual({ path, target, known: true })
    }
  }
})

test('the stage that becomes the image runs nothing, so that building for another platform needs no emulation', async () => {
  const text = await readFile(join(ROOT, 'Dockerfile'), 'utf8')
  const instructions = [...text.matchAll(/^[A-Z]+/gm)].map(([word]) => word)
  const stage = instructions.slice(instructions.lastIndexOf('FROM'))
  expect(stage).toContain('ENTRYPOINT')
  expect(stage).not.toContain('RUN')
})

test('the bill of materials in the image names the production dependencies and no other', async () => {
  const sbom = JSON.parse(await readFile(inImage(`${APP}/sbom.cdx.json`), 'utf8')) as Sbom
  const named = new Set(packages.map(({ name, version }) => `${name}@${version}`))
  expect(sbom.components.map((component) => component['bom-ref']).sort()).toEqual([...named].sort())
})

test('the licence of every production dependency goes along', async () => {
  const notices = await readFile(inImage(`${APP}/THIRD-PARTY-NOTICES`), 'utf8')
  const missing = packages.filter(({ name, version }) => !notices.includes(`\n${name} ${version}\n`))
  expect(missing).toEqual([])
})

test.each(['operator', 'emulator'])('`%s` shows its help', async (command) => {
  await using container = await Container.start({ image, args: [command, '--help'] })
  expect(await container.exited()).toBe(0)
  expect(container.output).toContain(`Usage: culvert ${command} [options]`)
})
