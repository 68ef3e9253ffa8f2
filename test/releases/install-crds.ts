import type { ControlPlane } from '../../controlplane/control-plane.ts'

/** Applies the CRDs of a file or a folder, over any existing ones, and waits until they are served. */
export async function installCRDs(cluster: ControlPlane, path: string): Promise<void> {
  for (const args of [
    ['apply', '--server-side', '--force-conflicts', '-f', path],
    ['wait', '--for=condition=Established', '--timeout=60s', '-f', path],
  ]) {
    const { code, stderr } = await cluster.kubectl(args)
    if (code !== 0) throw new Error(`kubectl ${args[0]} ${path}: ${stderr}`)
  }
}
