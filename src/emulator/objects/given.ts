import type { Choices } from '../choices/choices.ts'
import { readCreate, readUpdate } from '../fields/field.ts'
import type { JsonObject } from '../values/json.ts'
import type { Resource } from './resource.ts'

/** Longest description, where descriptions are cut. */
const MOST_BYTES = 255

/** The fields of a new object, as stored. */
export function givenCreate(resource: Resource, body: JsonObject, choices: Choices): JsonObject {
  resource.refuse?.(body, choices)
  return kept(readCreate(resource.fields, body, resource.defaults?.(choices)), choices)
}

/** The fields that an update changes, as stored. */
export function givenUpdate(resource: Resource, body: JsonObject, choices: Choices): JsonObject {
  resource.refuse?.(body, choices)
  return kept(readUpdate(resource.fields, body), choices)
}

/** Texts that people write; `name` is that of a bot. */
const TEXTS = ['description', 'metadata', 'name'] as const

/** What the service stores for texts that people write. */
function kept(given: JsonObject, choices: Choices): JsonObject {
  const result = { ...given }
  for (const name of TEXTS) {
    const text = given[name]
    if (typeof text !== 'string') continue
    const trimmed = choices.texts === 'trimmed' ? text.trim() : text
    result[name] = name === 'description' && choices['long-descriptions'] === 'cut' ? cut(trimmed) : trimmed
  }
  return result
}

/** Cuts between characters. */
function cut(text: string): string {
  let end = 0
  let bytes = 0
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > MOST_BYTES) break
    end += character.length
  }
  return text.slice(0, end)
}
