import type { ForeignVocabulary } from './enums.ts'

/** Words of others that enums keep. What is CamelCase by itself (`In` of a label selector, `CNAME`, `RSA`) needs no entry. */
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
