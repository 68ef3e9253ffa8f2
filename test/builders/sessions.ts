import type { RemoteObject } from '../../src/api/types.ts'
import type { AccountResource } from '../../src/managed/account-resource.ts'

/** A session as the API lists it. */
export function session(id: string, fields: Readonly<Record<string, unknown>> = {}): RemoteObject {
  return {
    id,
    uri: `https://api.example.com/tunnel_sessions/${id}`,
    agent_version: '3.9.0',
    credential: { id: 'cr_1', uri: 'https://api.example.com/credentials/cr_1' },
    ip: '198.51.100.7',
    metadata: 'machine 1',
    os: 'linux',
    region: 'eu',
    started_at: '2026-01-01T00:00:00Z',
    transport: 'svc/v2',
    ...fields,
  }
}

/** An Account of the namespace `shop` that mirrors its sessions. */
export function mirroredAccount(name: string, spec: Readonly<Record<string, unknown>> = {}): AccountResource {
  return {
    apiVersion: 'culvert.dev/v1alpha1',
    kind: 'Account',
    metadata: { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion: '1', generation: 1 },
    spec: {
      baseURL: 'https://api.example.com',
      apiKeySecretRef: { name: 'key' },
      mirrorSessions: { enabled: true, interval: '60s' },
      ...spec,
    },
  }
}
