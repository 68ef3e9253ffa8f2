import { randomBytes } from 'node:crypto'
import type { KubeObject } from '../../../src/kube/types.ts'
import { secrets } from '../../cluster/support/tokens.ts'
import type { World } from '../../cluster/support/world.ts'

/** Shorter values occur everywhere by chance. */
const SHORTEST = 12
/** Values in a Secret that are not secret: certificates and public keys. */
const PUBLIC = /^(-----BEGIN CERTIFICATE-----|(ssh|ecdsa)-)/

/**
 * A value that is recognizable in any encoding and names its origin. Its special characters are escaped in JSON, in a
 * URL, and by base64.
 */
export function canary(name: string): string {
  return `canary-${name}-${randomBytes(6).toString('hex')}-"\\/é&=?+`
}

/**
 * Every secret value in the Secrets of these namespaces, each with its Secret and key. A value has a character for each
 * byte.
 */
export async function secretValues(world: World, namespaces: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const namespace of namespaces) {
    const { items } = await world.kube.list<KubeObject & { data?: Readonly<Record<string, string>> }>(secrets, {
      namespace,
    })
    for (const { metadata, data = {} } of items) {
      for (const [key, encoded] of Object.entries(data)) {
        const value = Buffer.from(encoded, 'base64').toString('latin1')
        if (value.length >= SHORTEST && !PUBLIC.test(value)) found.set(value, `${metadata.name}/${key} of ${namespace}`)
      }
    }
  }
  return found
}

/** The forms in which a value may appear in a text: as is, escaped, encoded. `value` has a character for each byte. */
export function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value, 'latin1')
  const plain = bytes.toString('utf8')
  const json = JSON.stringify(plain).slice(1, -1)
  // Inside a longer text, base64 depends on the value's offset.
  const encoded = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    return text.slice(offset === 0 ? 0 : offset + 1, -1)
  })
  return [
    ...new Set([
      plain,
      json,
      JSON.stringify(json).slice(1, -1),
      encodeURIComponent(plain),
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
      ...encoded,
      ...encoded.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    ]),
  ]
}

/** Which of the values occur in which of the places, in any form. */
export function findings(
  values: ReadonlyMap<string, string>,
  places: Readonly<Record<string, string>>,
): readonly string[] {
  return [...values].flatMap(([value, name]) => {
    const forms = formsOf(value)
    return Object.entries(places)
      .filter(([, text]) => forms.some((form) => text.includes(form)))
      .map(([place]) => `${name} in ${place}`)
  })
}
