import { fileURLToPath } from 'node:url'
import type { ControlPlane } from '../../controlplane/control-plane.ts'

/** The folder of this version's CRDs. */
export const CURRENT_CRDS = fileURLToPath(new URL('../../crds', import.meta.url))

/**
 * Applies the CRDs of a file or a folder, over any existing ones, and waits until they are served. Default: those of
 * this version.
 */
export async function installCRDs(cluster: Pick<ControlPlane, 'kubectl'>, path = CURRENT_CRDS): Promise<void> {
  for (const args of [
    ['apply', '--server-side', '--force-conflicts', '-f', path],
    ['wait', '--for=condition=Established', '--timeout=60s', '-f', path],
  ]) {
    const { code, stderr } = await cluster.kubectl(args)
    if (code !== 0) throw new Error(`kubectl ${args[0]} ${path}: ${stderr}`)
  }
}
