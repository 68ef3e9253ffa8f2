import { testsOf } from '../../kinds/lookup.ts'
import { ownKeys } from './forms.ts'
import type { Body, Declared, Held, Resolved } from './types.ts'

/**
 * Every part of the object that a spec declares. Written from `management-api.md` and the kinds' pages, and
 * deliberately not from the descriptors: an operator with a wrong plan would judge itself right.
 */
export function declaredParts(kind: string, spec: Body, held: Held, resolved: Resolved): readonly Declared[] {
  const { description = '', metadata, rawMetadata } = spec
  const described: readonly Declared[] =
    kind === 'BotUser' ? [] : [['description', description, held.object.description ?? '']]
  const noted: readonly Declared[] =
    rawMetadata === undefined
      ? [['metadata', metadata ?? {}, ownKeys(held.object.metadata, metadata)]]
      : [['metadata', rawMetadata, held.object.metadata]]
  return [...described, ...noted, ...testsOf(kind).declares(spec, held, resolved)]
}
