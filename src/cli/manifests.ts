import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isMap, LineCounter, parseAllDocuments } from 'yaml'

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
}

/** What was read is no manifest. The message says where, what is wrong, and the remedy. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError'
  readonly code = 'MANIFEST_UNREADABLE'
}

/** All manifests of a file, or of the YAML and JSON files in a folder, in the order of the file names. */
export async function readManifestsAt(path: string): Promise<readonly ManifestAt[]> {
  const files = await filesOf(path)
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  return texts.flatMap((text, index) => parseManifestsAt(text, files[index] ?? path))
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

/** The documents of one file, without empty ones; those of a `List` one by one. */
export function parseManifestsAt(text: string, file: string): readonly ManifestAt[] {
  const lines = new LineCounter()
  return parseAllDocuments(text, { lineCounter: lines }).flatMap((document): readonly ManifestAt[] => {
    const problem = document.errors[0]
    if (problem !== undefined) {
      const line = problem.linePos?.[0].line ?? 1
      const [what = ''] = problem.message.split('\n')
      throw new ManifestError(`${file}:${line} is not YAML: ${what.replace(/:$/, '')}`, { cause: problem })
    }
    const content: unknown = document.toJS()
    if (content === null) return []
    const lineOf = (path: readonly (string | number)[]): number => {
      for (let length = path.length; length >= 0; length -= 1) {
        const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
        const range =
          typeof node === 'object' && node !== null && 'range' in node ? (node.range as number[]) : undefined
        const offset = keyOffset(document, path.slice(0, length)) ?? range?.[0]
        if (offset !== undefined) return lines.linePos(offset).line
      }
      return 1
    }
    const found = (manifest: unknown, below: readonly (string | number)[]): ManifestAt => {
      const at: ManifestAt = {
        manifest: manifest as Manifest,
        file,
        line: lineOf(below),
        lineOf: (path) => lineOf([...below, ...path]),
      }
      refuseMalformed(at)
      return at
    }
    if (!isList(content)) return [found(content, [])]
    return content.items.map((item, index) => found(item, ['items', index]))
  })
}

/** Where the name of a field begins: its value may stand on a later line. */
function keyOffset(document: ReturnType<typeof parseAllDocuments>[number], path: readonly (string | number)[]) {
  const last = path.at(-1)
  if (typeof last !== 'string') return undefined
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  if (!isMap(parent)) return undefined
  const pair = parent.items.find(({ key }) => (key as { readonly value?: unknown }).value === last)
  return (pair?.key as { readonly range?: readonly number[] } | undefined)?.range?.[0]
}

function isList(content: unknown): content is { readonly items: readonly unknown[] } {
  const { kind, items } = (content ?? {}) as { readonly kind?: unknown; readonly items?: unknown }
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)
}

/** Nothing of what was read can be relied on. */
function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}

/** @throws ManifestError if it lacks what every object of Kubernetes has. */
function refuseMalformed({ manifest, file, line }: ManifestAt): void {
  const { apiVersion, kind, metadata } = fieldsOf(manifest)
  const named = fieldsOf(metadata)
  for (const [field, value] of Object.entries({ apiVersion, kind, 'metadata.name': named.name })) {
    if (typeof value !== 'string' || value === '') {
      throw new ManifestError(`${file}:${line} has no ${field}: give the manifest a text there`)
    }
  }
}
