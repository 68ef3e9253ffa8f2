import { type Field, optional } from './field.ts'
import { TEXT } from './json-schema.ts'
import { bytes, string } from './readers.ts'

/** `description` and `metadata` with the usual limits (`management-api.md § Conventions`). */
export const DESCRIBED = {
  description: optional(bytes(255), ''),
  metadata: optional(bytes(4096), ''),
} satisfies Record<string, Field>

/** The two fields as shown by every resource except bots. */
export const SHOWN_TEXTS = { description: TEXT, metadata: TEXT }

/** `description` and `metadata` of backends, for which no limits are stated; the body limit applies. */
export const DESCRIBED_WITHOUT_LIMITS = {
  description: optional(string, ''),
  metadata: optional(string, ''),
} satisfies Record<string, Field>
