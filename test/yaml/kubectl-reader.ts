import { join } from 'node:path'
import { goProgram } from '../../controlplane/go-program.ts'
import { runProgram } from '../../controlplane/run-program.ts'

const MODULE = join(import.meta.dirname, 'kubectl-reader')

/** What kubectl makes of a file: the documents that it would send, or why it refuses the file. */
export interface KubectlAnswer {
  readonly documents: readonly unknown[]
  readonly error?: string
}

/** Reads files with the Go code with which kubectl reads them. */
export async function readAsKubectl(files: readonly string[]): Promise<readonly KubectlAnswer[]> {
  const stdin = files.map((file) => `${Buffer.from(file).toString('base64')}\n`).join('')
  const { code, stdout, stderr } = await runProgram(await goProgram(MODULE), [], { stdin })
  if (code !== 0) throw new Error(stderr)
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line, wellFormed) as KubectlAnswer)
}

/** kubectl passes half of a surrogate pair on as it stands in a file of JSON, and sends U+FFFD. */
function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value
}
