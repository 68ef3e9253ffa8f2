import { fileURLToPath } from 'node:url'
import type { ResourceType } from '../../src/kube/types.ts'

/** The file with the CRD of ExternalDNS, for `kubectl apply -f`. */
export const DNS_ENDPOINT_CRD = fileURLToPath(new URL('../fixtures/dnsendpoints.yaml', import.meta.url))

export const dnsEndpointType: ResourceType = {
  group: 'externaldns.k8s.io',
  version: 'v1alpha1',
  plural: 'dnsendpoints',
  kind: 'DNSEndpoint',
  namespaced: true,
}
