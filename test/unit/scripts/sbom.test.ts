import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { Sbom } from '../../../scripts/sbom-document.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

const project = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>
}

interface Locked {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** Everything reachable from the project's `dependencies` by Node's module resolution. */
async function reachable(): Promise<ReadonlySet<string>> {
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>
  }
  const found = new Map<string, string>()
  const visit = (from: string, name: string): void => {
    const path = resolve(lock.packages, from, name)
    const locked = path === undefined ? undefined : lock.packages[path]
    if (path === undefined || locked === undefined || found.has(path)) return
    found.set(path, `${name}@${locked.version}`)
    const { peerDependencies = {}, peerDependenciesMeta = {} } = locked
    const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true)
    const needed = [...Object.keys(locked.dependencies ?? {}), ...Object.keys(locked.optionalDependencies ?? {})]
    for (const each of [...needed, ...peers]) visit(path, each)
  }
  for (const name of Object.keys(project.dependencies)) visit('', name)
  return new Set(found.values())
}

/** The nearest folder to `from` that has the package. */
function resolve(packages: Readonly<Record<string, Locked>>, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (path in packages) return path
    if (folder === '') return undefined
  }
}

const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/sbom.ts')], {
  maxBuffer: 64 * 1024 * 1024,
})
const sbom = JSON.parse(stdout) as Sbom
const expected = [...(await reachable())].sort()

test('the bill of materials lists exactly the production dependencies of the lock file', () => {
  expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: expect.stringMatching(/^1\.\d$/) })
  expect(sbom.metadata.component).toMatchObject({ type: 'application', name: 'culvert' })
  expect(expected.length).toBeGreaterThan(100)
  expect(sbom.components.map((component) => component['bom-ref']).sort()).toEqual(expected)
})

test('its dependencies name components that it lists, and of the project those of package.json', () => {
  const own = sbom.metadata.component['bom-ref']
  expect(sbom.dependencies.map(({ ref }) => ref).sort()).toEqual([own, ...expected].sort())
  for (const { ref, dependsOn } of sbom.dependencies) {
    expect({ ref, unlisted: dependsOn.filter((each) => !expected.includes(each)) }).toEqual({ ref, unlisted: [] })
  }
  const direct = Object.entries(project.dependencies).map(([name, version]) => `${name}@${version}`)
  expect([...(sbom.dependencies.find(({ ref }) => ref === own)?.dependsOn ?? [])].sort()).toEqual(direct.sort())
})

test('every component has the hash of its package and an address by which scanners know it', () => {
  for (const { purl, ...component } of sbom.components) {
    expect(purl).toMatch(/^pkg:npm\//)
    expect(component).toMatchObject({ hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }] })
  }
})

test('the same lock file gives the same document', () => {
  expect(sbom).not.toHaveProperty('serialNumber')
  expect(sbom.metadata).not.toHaveProperty('timestamp')
})
