import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import { installCRDs } from '../../builders/install-crds.ts'
import { installOperatorPolicy } from './operator-policy.ts'

/** Installs what every test finds in its cluster: the CRDs, and the admission policy of all operators. */
export async function installDefinitions(cluster: Pick<ControlPlane, 'kubectl'>): Promise<void> {
  await installCRDs(cluster)
  await installOperatorPolicy(cluster)
}
