import type { ResourceType } from './types.ts'

export const namespaceType: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
}

/** Nothing else in a cluster is unique and lasts as long: its UID identifies the cluster. */
export const SYSTEM_NAMESPACE = 'kube-system'

export const secretType: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
}

export const configMapType: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
}
