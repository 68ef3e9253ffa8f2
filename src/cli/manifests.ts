import { execFile } from 'node:child_process'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { YamlError } from '../util/yaml/cursor.ts'
import { readYaml, type YamlDocument } from '../util/yaml/read.ts'

/** One document of the manifests. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly [field: string]: unknown
}

/** A manifest and where it was read. */
export interface ManifestAt {
  readonly manifest: Manifest
  readonly file: string
  /** Line of the first field, from 1. */
  readonly line: number
  /** Line of the field at that path, or of the deepest field above it that is written down. */
  lineOf(path: readonly (string | number)[]): number
  /** What kubectl and other readers take differently in its document, with the place; of a list, at the first item. */
  readonly warnings: readonly string[]
}

/** What was read is no manifest. The message says where, what is wrong, and the remedy. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError'
  readonly code = 'MANIFEST_UNREADABLE'
}

/** All manifests of a file, or of the YAML and JSON files in a folder, in the order of the file names. */
export async function readManifestsAt(path: string): Promise<readonly ManifestAt[]> {
  const files = await filesOf(path)
  const contents = await Promise.all(files.map((file) => readFile(file)))
  return contents.flatMap((content, index) => parseManifestsAt(content, files[index] ?? path))
}

async function filesOf(path: string): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path]
    const names = (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name)).sort()
    if (names.length === 0)
      throw new ManifestError(`${path} holds no manifests: name a folder with .yaml or .json files`)
    return names.map((name) => join(path, name))
  } catch (error) {
    if (error instanceof ManifestError) throw error
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new ManifestError(`${path} cannot be read (${why}): correct the path`, { cause: error })
  }
}

/** The documents of one file as kubectl reads them, without empty ones; those of a list one by one. */
export function parseManifestsAt(content: string | Uint8Array, file: string): readonly ManifestAt[] {
  return documentsOf(content, file).flatMap((document) => {
    const warnings = document.warnings.map(({ line, message }) => `${file}:${line} ${message}`)
    return manifestsIn(document.value, []).map(({ manifest, below }, index) => {
      const at: ManifestAt = {
        manifest: manifest as Manifest,
        file,
        line: document.lineOf(below),
        lineOf: (path) => document.lineOf([...below, ...path]),
        warnings: index === 0 ? warnings : [],
      }
      refuseMalformed(at)
      return at
    })
  })
}

function documentsOf(content: string | Uint8Array, file: string): readonly YamlDocument[] {
  try {
    return readYaml(content)
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw new ManifestError(`${file}:${error.line} is not YAML: ${error.message}`, { cause: error })
  }
}

interface Found {
  readonly manifest: unknown
  /** Where it is in its document. */
  readonly below: readonly (string | number)[]
}

/** The objects of a list, which may hold lists, and which gives its own type to items without one. */
function manifestsIn(content: unknown, below: readonly (string | number)[]): readonly Found[] {
  const { apiVersion, kind, items } = fieldsOf(content)
  if (!Array.isArray(items) || typeof kind !== 'string') return [{ manifest: content, below }]
  return items.flatMap((item: unknown, index) => {
    const own = fieldsOf(item)
    const isTyped = own.kind !== undefined || own.apiVersion !== undefined
    const typed = isTyped ? item : { ...own, apiVersion, kind: kind.replace(/List$/, '') }
    return manifestsIn(typed, [...below, 'items', index])
  })
}

/** Nothing of what was read can be relied on. */
function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}

/** @throws ManifestError if it lacks what every object of Kubernetes has. */
function refuseMalformed(at: ManifestAt): void {
  const { manifest, file, line } = at
  const { apiVersion, kind, metadata } = fieldsOf(manifest)
  const named = fieldsOf(metadata)
  for (const [field, value] of Object.entries({ apiVersion, kind, 'metadata.name': named.name })) {
    if (typeof value !== 'string' || value === '') {
      throw new ManifestError(`${file}:${line} has no ${field}: give the manifest a text there`)
    }
  }
  for (const field of ['labels', 'annotations']) {
    for (const [key, value] of Object.entries(fieldsOf(named[field]))) {
      if (typeof value === 'string') continue
      const line = at.lineOf(['metadata', field, key])
      throw new ManifestError(`${at.file}:${line} metadata.${field} has a value that is no text: quote it`)
    }
  }
}

const run = promisify(execFile)

/** Longest output of kustomize, in bytes. */
const MAX_OUTPUT = 64 * 1024 * 1024

/** The manifests of a kustomization. @throws ManifestError if kubectl is missing, or refuses to build it */
export async function buildKustomization(folder: string): Promise<string> {
  try {
    const { stdout } = await run('kubectl', ['kustomize', folder], { maxBuffer: MAX_OUTPUT })
    return stdout
  } catch (error) {
    const { code, stderr, message } = error as Error & { readonly code?: unknown; readonly stderr?: string }
    if (code === 'ENOENT') {
      throw new ManifestError('-k needs kubectl on the PATH: install it, or pipe `kustomize build` into -f -', {
        cause: error,
      })
    }
    throw new ManifestError(`kubectl kustomize ${folder} failed: ${stderr?.trim() || message}`, { cause: error })
  }
}
