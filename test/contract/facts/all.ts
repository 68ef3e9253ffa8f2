import { backendCollections } from './backends.ts'
import { certificateAuthorityCollections } from './certificate-authorities.ts'
import { credentialCollections } from './credentials.ts'
import { domainCollections } from './domains.ts'
import { edgeCollections } from './edges.ts'
import { eventCollections } from './events.ts'
import type { CollectionFact, FieldFact } from './facts.ts'
import { ipPolicyCollections } from './ip-policies.ts'
import { sshCertificateCollections } from './ssh-certificates.ts'

/** Every collection of the contract, in the order of its endpoints table by family. */
export const allCollections: readonly CollectionFact[] = [
  ...credentialCollections,
  ...ipPolicyCollections,
  ...domainCollections,
  ...edgeCollections,
  ...backendCollections,
  ...sshCertificateCollections,
  ...certificateAuthorityCollections,
  ...eventCollections,
]

/** The row of a collection by its path. Throws if the contract has no such collection. */
export function collectionAt(path: string): CollectionFact {
  const row = allCollections.find((candidate) => candidate.path === path)
  if (row === undefined) throw new Error(`the contract has no collection ${path}`)
  return row
}

/** The row of a field. Throws if the collection has no such field. */
export function fieldOf(row: CollectionFact, name: string): FieldFact {
  const field = row.fields.find((candidate) => candidate.name === name)
  if (field === undefined) throw new Error(`${row.path} has no field ${name}`)
  return field
}

/** Fields that a create body may contain. */
export function createFields(row: CollectionFact): readonly FieldFact[] {
  return row.fields.filter((field) => field.sent !== undefined && field.sent.create !== 'refused')
}

/** Fields that an update body may contain, besides `id`. */
export function updateFields(row: CollectionFact): readonly FieldFact[] {
  return row.fields.filter((field) => field.sent?.update === 'mutable')
}

/** Fields of the resource in the service's responses. */
export function responseFields(row: CollectionFact): readonly FieldFact[] {
  return row.fields.filter((field) => field.returned !== undefined)
}
