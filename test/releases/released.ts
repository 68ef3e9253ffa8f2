import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import type { CustomResourceDefinition } from '../../scripts/crds/crd.ts'
import type { Incompatibility } from './compatibility/incompatibility.ts'

const CHANGELOG = fileURLToPath(new URL('../../CHANGELOG.md', import.meta.url))

/** An announced tightening that leaves stored values alone: docs/versioning.md. */
export interface AcceptedTightening extends Pick<Incompatibility, 'path' | 'what'> {
  readonly reason: string
}

export const acceptedTightenings: readonly AcceptedTightening[] = []

/** Published versions: those with a heading of their own in CHANGELOG.md. */
export async function releasedVersions(): Promise<readonly string[]> {
  return versionsIn(await readFile(CHANGELOG, 'utf8'))
}

export function versionsIn(changelog: string): readonly string[] {
  return [...changelog.matchAll(/^## \[(\d+\.\d+\.\d+[^\]]*)\]/gm)].map(([, version = '']) => version)
}

/** The CRDs in a folder. */
export async function definitionsIn(folder: string): Promise<readonly CustomResourceDefinition[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml')).sort()
  return await Promise.all(
    files.map(async (name) => parse(await readFile(join(folder, name), 'utf8')) as CustomResourceDefinition),
  )
}
