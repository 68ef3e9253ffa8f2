import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { inject } from 'vitest'
import { type ControlPlane, startControlPlane } from '../../../controlplane/control-plane.ts'
import { installDefinitions } from './definitions.ts'
import { AUDIT_LOG } from './permissions-used.ts'

/**
 * A control plane for one test, with the CRDs: for an operator that watches all namespaces, or a test that stops the
 * apiserver. Takes some five seconds to start, from a copy of the suite's cluster if there is one. Its audit log is
 * next to the suite's, if that has one, so the suite's final check of operators' rights includes it.
 * @param options.mayRefuse the test is about writes of operators that are refused: that check leaves the log out
 */
export async function startOwnCluster({ mayRefuse = false } = {}): Promise<ControlPlane> {
  const suite = inject('auditLogPath')
  const data = inject('clusterData')
  const auditLogFile = suite && join(dirname(suite), `own-${randomBytes(5).toString('hex')}${AUDIT_LOG}`)
  const cluster = await startControlPlane({
    ...(mayRefuse ? { auditLog: true } : auditLogFile && { auditLog: true, auditLogFile }),
    ...(data && { data }),
  })
  if (data === undefined) await installDefinitions(cluster)
  return cluster
}
