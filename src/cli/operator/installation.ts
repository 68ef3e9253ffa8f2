import type { KubeClient, KubeObject } from '../../kube/types.ts'

/**
 * The id that marks objects as this installation's: the UID of kube-system stands for the cluster, since nothing else in a
 * cluster is unique and lasts as long; namespace and name tell installations in one cluster apart.
 */
export async function installationId(kube: KubeClient, namespace: string, name: string): Promise<string> {
  const type = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false }
  const system = await kube.get<KubeObject>(type, { name: 'kube-system' })
  if (system === undefined) throw new Error('namespace kube-system does not exist: give --installation')
  return `${system.metadata.uid}/${namespace}/${name}`
}
