import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { startControlPlane } from '../controlplane/control-plane.ts'
import './provided.ts'

const CRDS = fileURLToPath(new URL('../../crds', import.meta.url))

/**
 * One cluster for the whole suite: the one that CULVERT_TEST_KUBECONFIG names, else a control plane started here with
 * an audit log at level Metadata. Returns the teardown.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const kubeconfig = process.env.CULVERT_TEST_KUBECONFIG
  const controlPlane = await startControlPlane({
    auditLog: true,
    onProgress: (message) => console.error(message),
    ...(kubeconfig ? { kubeconfig } : {}),
  })
  const applied = await controlPlane.kubectl(['apply', '--server-side', '--force-conflicts', '-f', CRDS])
  if (applied.code !== 0) throw new Error(`the CRDs were refused: ${applied.stderr}`)
  project.provide('kubeconfigPath', controlPlane.kubeconfigPath)
  project.provide('auditLogPath', controlPlane.auditLogPath)
  project.provide('kubectlPath', controlPlane.kubectlPath)
  return () => controlPlane.stop()
}
