import type { KindTestData } from './kind-test-data.ts'
import { refuse } from './shared/refusals.ts'

export const tunnel: KindTestData = {
  kind: 'Tunnel',
  accepted: {
    backendRef: { name: 'shop' },
    service: { name: 'shop', port: 80 },
    replicas: 3,
    credentialRef: { name: 'shop', privateKeySecretRef: { name: 'shop', key: 'id_ed25519' } },
    keyRotation: { interval: '720h' },
  },
  refusals: [
    refuse(
      'with keys of minutes',
      { keyRotation: { interval: '10m' } },
      'interval must be from 1h to 8760h: write it as',
    ),
  ],
}
