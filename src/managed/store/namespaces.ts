import type { ResourceType } from '../../kube/types.ts'

export const namespaceType: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
}

/** Nothing else in a cluster is unique and lasts as long: its UID identifies the cluster. */
export const SYSTEM_NAMESPACE = 'kube-system'
