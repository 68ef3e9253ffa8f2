import type { AllowedDefault } from './defaults.ts'
import type { ForeignVocabulary } from './enums.ts'

/** Foreign words in enums. Those that are CamelCase anyway (`In` of a label selector, `CNAME`, `RSA`) need no entry. */
export const foreignVocabularies: readonly ForeignVocabulary[] = []

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
    reason: 'An account has no remote object: these configure how Culvert uses it.',
  },
  {
    places: ['Tunnel.spec.replicas'],
    reason: 'A Tunnel has no remote object, and the scale subresource shows only a stored number.',
  },
  {
    places: ['*.spec.accountRef.kind'],
    reason: 'Chooses the account, and is not part of any object in it.',
  },
]
