import { createHash } from 'node:crypto'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A source file of the Go module. */
export interface SourceFile {
  /** Path inside the module, with `/`. */
  readonly path: string
  readonly content: string
}

/** Everything that determines the built program. */
export interface BuildInput {
  readonly files: readonly SourceFile[]
  /** `GOOS/GOARCH`. */
  readonly target: string
  /** Arguments of `go build`. */
  readonly flags: readonly string[]
}

/** Names a build by its content: equal inputs give equal names, in any order of the files. */
export function sourceHash(input: BuildInput): string {
  const files = input.files.map((file) => [file.path, file.content]).sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
  const canonical = JSON.stringify({ files, target: input.target, flags: input.flags })
  return createHash('sha256').update(canonical).digest('hex').slice(0, 20)
}

/**
 * Reads the files of a Go module that are part of its programs: `go.mod`, `go.sum` and what stands in for them in some
 * builds, and sources without tests.
 */
export async function readModule(folder: string): Promise<SourceFile[]> {
  const files: SourceFile[] = []
  for await (const path of glob(['*.mod', '*.sum', '**/*.go'], { cwd: folder })) {
    if (path.endsWith('_test.go')) continue
    files.push({ path: path.replaceAll('\\', '/'), content: await readFile(join(folder, path), 'utf8') })
  }
  return files
}
