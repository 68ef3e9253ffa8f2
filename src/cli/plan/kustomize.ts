import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ManifestError } from '../manifests.ts'

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
