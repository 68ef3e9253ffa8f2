import type { CollectionFact } from './facts.ts'
import { collection, identity, list, shown, string, texts, timestamp, value } from './rows.ts'

/** Uploaded certificate authorities; all fields except the texts are read from the first certificate of the PEM. */
export const certificateAuthorityCollections: readonly CollectionFact[] = [
  collection({
    path: 'certificate_authorities',
    source: 'management-api.md § SSH certificates',
    listKey: 'certificate_authorities',
    idPrefix: 'ca_',
    eventName: 'certificate_authority',
    fields: [
      ...identity(),
      ...texts(),
      value('ca_pem', { kind: 'string', form: 'pem-ca' }, { create: 'mandatory', update: 'fixed' }),
      shown('subject_common_name', string),
      shown('not_before', timestamp),
      shown('not_after', timestamp),
      shown('key_usages', list(string)),
      shown('extended_key_usages', list(string)),
    ],
  }),
]
