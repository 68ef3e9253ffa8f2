import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { type ControlPlane, startControlPlane } from '../../controlplane/control-plane.ts'

const CRDS = fileURLToPath(new URL('../../../crds', import.meta.url))

/**
 * A control plane of a test's own with the CRDs in it: for an operator that watches all namespaces, or a test that stops the
 * apiserver. Takes some five seconds to start.
 */
export async function startOwnCluster(): Promise<ControlPlane> {
  const cluster = await startControlPlane()
  for (const args of [
    ['apply', '--server-side', '-f', CRDS],
    ['wait', '--for=condition=Established', '--timeout=60s', '-f', CRDS],
  ]) {
    const { code, stderr } = await cluster.kubectl(args)
    expect(code, stderr).toBe(0)
  }
  return cluster
}
