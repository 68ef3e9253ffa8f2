import { type Field, optional } from './field.ts'
import { TEXT } from './json-schema.ts'
import { bytes, string } from './readers.ts'

/** `description` and `metadata` with the usual limits (`management-api.md § Conventions`). */
export const DESCRIBED = {
  description: optional(bytes(255), ''),
  metadata: optional(bytes(4096), ''),
} satisfies Record<string, Field>

/** The two as every resource but a bot shows them. */
export const SHOWN_TEXTS = { description: TEXT, metadata: TEXT }

/** `description` and `metadata` of backends, which state no limits; the body limit holds. */
export const DESCRIBED_WITHOUT_LIMITS = {
  description: optional(string, ''),
  metadata: optional(string, ''),
} satisfies Record<string, Field>
