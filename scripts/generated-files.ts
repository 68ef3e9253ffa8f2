import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Reach } from '../src/managed/descriptor/access.ts'
import type { KindDefinition } from '../src/schema/definition.ts'
import { ADMISSION_FOLDER } from './admission-files.ts'
import { toCRD } from './crds/crd.ts'
import { kindIndex, kindPage } from './crds/docs.ts'
import { generatedMarkdownHeader } from './crds/markdown.ts'
import { crdFile, generatedYamlHeader, toYaml } from './crds/yaml.ts'
import { RBAC_FOLDER } from './rbac-files.ts'

/** The part of a descriptor that the generator needs. */
export interface Described {
  readonly definition: KindDefinition
  readonly reach?: Reach
}

const BEYOND =
  'This kind reaches beyond its namespace: anyone who may create one has a say in the whole account. In a ClusterAccount, an entry of `access` must name it, and the chart adds it to the role `admin`, not to `edit` ([security.md](../security.md#shared-accounts)).'

/** A second copy of the CRDs, because a chart package contains only its own folder. */
const CHART_CRDS = join('charts', 'culvert', 'files', 'crds')

/** Folders with generated files only, and the first line that marks these. */
const generatedFolders: readonly (readonly [folder: string, header: string])[] = [
  ['crds', generatedYamlHeader],
  [join('docs', 'kinds'), generatedMarkdownHeader],
  [CHART_CRDS, generatedYamlHeader],
  [RBAC_FOLDER, generatedYamlHeader],
  [ADMISSION_FOLDER, generatedYamlHeader],
]

/** The differences between the files on disk and the generated ones. Paths are relative to the root of the project. */
export interface Differences {
  /** Present with other content. */
  readonly stale: readonly string[]
  readonly missing: readonly string[]
  /** In a folder of generated files, but of no kind. */
  readonly extra: readonly string[]
}

/** Every generated file with its content: the CRDs, a page per kind, and the index of the pages. */
export async function generatedFiles(kinds: readonly Described[], root: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  for (const { definition, reach } of kinds) {
    const example = await readIfPresent(join(root, 'examples', 'kinds', `${definition.plural}.yaml`))
    const { notes } = definition
    const page = kindPage(definition, {
      ...(example === undefined ? {} : { example }),
      ...(notes ? { notes } : {}),
      ...(reach === 'account' ? { aside: BEYOND } : {}),
    })
    const crd = toYaml(toCRD(definition))
    files.set(crdFile(definition), crd)
    files.set(join(CHART_CRDS, basename(crdFile(definition))), crd)
    files.set(join('docs', 'kinds', `${definition.plural}.md`), page)
  }
  files.set(join('docs', 'kinds', 'README.md'), kindIndex(kinds.map(({ definition }) => definition)))
  return files
}

/** Compares the folders of generated files with `files`. */
export async function differences(files: ReadonlyMap<string, string>, root: string): Promise<Differences> {
  const stale: string[] = []
  const missing: string[] = []
  for (const [path, content] of files) {
    const present = await readIfPresent(join(root, path))
    if (present === undefined) {
      missing.push(path)
    } else if (present !== content) {
      stale.push(path)
    }
  }
  return { stale, missing, extra: await extraFiles(files, root) }
}

/**
 * Writes stale and missing files, and removes generated files of deleted kinds. A file without the generator's mark is
 * left alone and returned in `extra`.
 */
export async function writeGenerated(files: ReadonlyMap<string, string>, root: string): Promise<Differences> {
  const found = await differences(files, root)
  for (const path of [...found.stale, ...found.missing]) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), files.get(path) ?? '')
  }
  const foreign: string[] = []
  for (const path of found.extra) {
    if (await isGenerated(path, root)) {
      await rm(join(root, path))
    } else {
      foreign.push(path)
    }
  }
  return { ...found, extra: foreign }
}

async function extraFiles(files: ReadonlyMap<string, string>, root: string): Promise<readonly string[]> {
  const extra: string[] = []
  for (const [folder] of generatedFolders) {
    for (const name of await listIfPresent(join(root, folder))) {
      const path = join(folder, name)
      if (!files.has(path) && name !== '.gitkeep') {
        extra.push(path)
      }
    }
  }
  return extra
}

async function isGenerated(path: string, root: string): Promise<boolean> {
  const content = (await readIfPresent(join(root, path))) ?? ''
  return generatedFolders.some(([folder, header]) => dirname(path) === folder && content.startsWith(header))
}

async function readIfPresent(path: string): Promise<string | undefined> {
  return await unlessAbsent(readFile(path, 'utf8'), undefined)
}

async function listIfPresent(folder: string): Promise<readonly string[]> {
  return (await unlessAbsent(readdir(folder), [])).sort()
}

async function unlessAbsent<T, U>(result: Promise<T>, absent: U): Promise<T | U> {
  try {
    return await result
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return absent
    }
    throw error
  }
}
