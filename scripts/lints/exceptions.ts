import type { AllowedDefault } from './defaults.ts'
import type { ForeignVocabulary } from './enums.ts'

/** Foreign words in enums. Those that are CamelCase anyway (`In` of a label selector, `CNAME`, `RSA`) need no entry. */
export const foreignVocabularies: readonly ForeignVocabulary[] = [
  {
    values: ['1.0', '1.1', '1.2', '1.3'],
    places: ['Edge.spec.tlsTermination.minVersion'],
    reason: 'Versions of TLS are numbers; every tool writes them so.',
  },
  {
    values: ['P-256', 'P-384', 'P-521'],
    places: ['SSHCertificateAuthority.spec.ellipticCurve'],
    reason: 'The names that FIPS 186 gives to the curves.',
  },
]

/** Fields of a spec with a default in the CRD. None of them is sent to the API: docs/decisions/0024-left-alone.md. */
export const allowedDefaults: readonly AllowedDefault[] = [
  {
    places: ['Account', 'ClusterAccount'].flatMap((kind) => [
      `${kind}.spec.apiKeySecretRef.key`,
      `${kind}.spec.versionHeader`,
      `${kind}.spec.rateLimit.burst`,
      `${kind}.spec.resyncInterval`,
      `${kind}.spec.mirrorSessions.interval`,
    ]),
    reason: 'An account has no object at the API: these say how Culvert works with it.',
  },
  {
    places: ['Tunnel.spec.replicas'],
    reason: 'A Tunnel has no object at the API, and the subresource scale shows only a number that is stored.',
  },
  {
    places: ['*.spec.accountRef.kind'],
    reason: 'Chooses the account, and is not part of any object in it.',
  },
]
