import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ControlPlane } from '../../controlplane/control-plane.ts'
import { startControlPlane } from '../../controlplane/control-plane.ts'
import { CURRENT_CRDS, installCRDs } from '../builders/install-crds.ts'
import { KubeProxy } from '../builders/kube-proxy.ts'
import { World } from '../cluster/support/world.ts'
import { writtenObjects } from '../hostile/token/support/written-objects.ts'
import { Etcd } from './etcd.ts'
import { record } from './recording.ts'
import { CRDS, INDEX, RELEASES, type RecordedScene, type ReleaseIndex, WRITES } from './release.ts'
import { releasedVersions } from './released.ts'
import type { Scene } from './scene.ts'
import { scenes } from './scenes/index.ts'
import { allowing } from './takeover.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url))
const PACKAGE = fileURLToPath(new URL('../../package.json', import.meta.url))
/** Constant, so that recordings differ in less. */
const API_KEY = 'tk_recorded-key-of-an-emulated-account'

/**
 * Records the objects of this version in `test/fixtures/releases/<version>`: of all scenes, with the CRDs, or a sample
 * of those named. Run it for each release; see docs/contributing.md.
 */
async function main(names: readonly string[]): Promise<void> {
  const { version } = JSON.parse(await readFile(PACKAGE, 'utf8')) as { version: string }
  const folder = join(RELEASES, version)
  if ((await releasedVersions()).includes(version)) {
    throw new Error(`${version} is released: its recording never changes. Set the next version in package.json first.`)
  }
  const chosen = scenes.filter(({ name }) => names.length === 0 || names.includes(name))
  if (names.length === 0) await rm(folder, { recursive: true, force: true })
  if (names.length === 0 || existsSync(join(folder, CRDS))) {
    await cp(CURRENT_CRDS, join(folder, CRDS), { recursive: true })
    const writes = writtenObjects().filter(({ isCreated }) => isCreated)
    await writeFile(join(folder, WRITES), `${JSON.stringify(writes, null, 2)}\n`)
  }
  await mkdir(folder, { recursive: true })
  await using cluster = await startControlPlane({ onProgress: console.error })
  await installCRDs(cluster)
  const recorded = new Map((await formerScenes(folder)).map((scene) => [scene.name, scene]))
  for (const scene of chosen) {
    recorded.set(scene.name, await played(cluster, scene, folder))
    const index: ReleaseIndex = { version, scenes: scenes.flatMap(({ name }) => recorded.get(name) ?? []) }
    await writeFile(join(folder, INDEX), lines(index))
    console.error(`${scene.name}: ${recorded.get(scene.name)?.objects.length} objects`)
  }
}

/** JSON with one line for each object. */
function lines(index: ReleaseIndex): string {
  const texts: string[] = []
  const held = JSON.stringify(
    index,
    (key, value: unknown) =>
      key === 'objects' ? (value as unknown[]).map((each) => texts.push(JSON.stringify(each)) - 1) : value,
    2,
  )
  return `${held.replaceAll(/^( {8})(\d+)(,?)$/gm, (_, indent: string, number: string, comma: string) => {
    return `${indent}${texts[Number(number)]}${comma}`
  })}\n`
}

/** Scenes already recorded, for a run that records only some of them. */
async function formerScenes(folder: string): Promise<readonly RecordedScene[]> {
  const text = await readFile(join(folder, INDEX), 'utf8').catch(() => '{"scenes":[]}')
  return (JSON.parse(text) as ReleaseIndex).scenes
}

async function played(cluster: ControlPlane, scene: Scene, folder: string): Promise<RecordedScene> {
  await new Etcd(cluster).wipe()
  for (const file of scene.crds ?? []) await installCRDs(cluster, join(FIXTURES, file))
  await using proxy = await KubeProxy.start(cluster.kubeconfigPath)
  const flags = [
    ...(scene.world?.flags ?? []),
    ...allowing(scene.allowHosts ?? []),
    ...(scene.proxied ? ['--kubeconfig', proxy.kubeconfigPath] : []),
  ]
  await using world = await World.open({
    ...scene.world,
    emulator: { apiKey: API_KEY, ...scene.world?.emulator },
    flags,
    kubeconfig: cluster.kubeconfigPath,
    namespace: `recorded-${scene.name}`,
  })
  const forbid = (method: string, path: RegExp): void => {
    proxy.intercept((request) => {
      if (request.method !== method || !path.test(request.path)) return undefined
      return { type: 'answer', status: 403, reason: 'Forbidden' }
    })
  }
  const subjects = await scene.play({ world, forbid })
  await world.operator.kill()
  // Awaited here, because the world's connections close with it.
  return await record(world, scene, subjects, folder)
}

await main(process.argv.slice(2))
