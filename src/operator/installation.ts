import { namespaceType, SYSTEM_NAMESPACE } from '../kube/core-types.ts'
import { KubeError } from '../kube/kube-error.ts'
import type { KubeClient, KubeObject } from '../kube/types.ts'

/**
 * The id that marks objects as this installation's. The UID of kube-system identifies the cluster, since nothing else
 * in a cluster is unique and lasts as long; namespace and name tell installations in one cluster apart.
 *
 * @throws KubeError if that namespace may not be read. There is no fallback: objects created under one id would not be
 * recognised under another.
 */
export async function installationId(kube: KubeClient, namespace: string, name: string): Promise<string> {
  const system = await readSystemNamespace(kube)
  if (system === undefined) throw new Error(`namespace ${SYSTEM_NAMESPACE} does not exist: set --installation`)
  return `${system.metadata.uid}/${namespace}/${name}`
}

async function readSystemNamespace(kube: KubeClient): Promise<KubeObject | undefined> {
  try {
    return await kube.get<KubeObject>(namespaceType, { name: SYSTEM_NAMESPACE })
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'Forbidden') throw error
    const message = `the operator may not read namespace ${SYSTEM_NAMESPACE}, whose UID is part of the installation id: allow it, or set --installation (${error.message})`
    throw new KubeError(error.code, message, { status: error.status, reason: error.reason, cause: error })
  }
}
