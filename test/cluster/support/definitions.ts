import { fileURLToPath } from 'node:url'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import { installOperatorPolicy } from './operator-policy.ts'

const CRDS = fileURLToPath(new URL('../../../crds', import.meta.url))

/** Installs what every test finds in its cluster: the CRDs, and the admission policy of all operators. */
export async function installDefinitions(cluster: Pick<ControlPlane, 'kubectl'>): Promise<void> {
  for (const args of [
    ['apply', '--server-side', '--force-conflicts', '-f', CRDS],
    ['wait', '--for=condition=Established', '--timeout=60s', '-f', CRDS],
  ]) {
    const { code, stderr } = await cluster.kubectl(args)
    if (code !== 0) throw new Error(`kubectl ${args[0]} failed for the CRDs: ${stderr}`)
  }
  await installOperatorPolicy(cluster)
}
