import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, inject } from 'vitest'
import { type ControlPlane, startControlPlane } from '../../../controlplane/control-plane.ts'
import { installOperatorPolicy } from './operator-policy.ts'
import { AUDIT_LOG } from './permissions-used.ts'

const CRDS = fileURLToPath(new URL('../../../crds', import.meta.url))

/**
 * A control plane for one test, with the CRDs: for an operator that watches all namespaces, or a test that stops the
 * apiserver. Takes some five seconds to start. Its audit log is beside the suite's, if that has one, so the suite's
 * final check of operators' rights includes it.
 */
export async function startOwnCluster(): Promise<ControlPlane> {
  const suite = inject('auditLogPath')
  const auditLogFile = suite && join(dirname(suite), `own-${randomBytes(5).toString('hex')}${AUDIT_LOG}`)
  const cluster = await startControlPlane(auditLogFile ? { auditLog: true, auditLogFile } : {})
  for (const args of [
    ['apply', '--server-side', '-f', CRDS],
    ['wait', '--for=condition=Established', '--timeout=60s', '-f', CRDS],
  ]) {
    const { code, stderr } = await cluster.kubectl(args)
    expect(code, stderr).toBe(0)
  }
  await installOperatorPolicy(cluster)
  return cluster
}
