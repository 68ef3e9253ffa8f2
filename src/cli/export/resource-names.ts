import { looksLikeAnother } from '../../util/yaml/write.ts'

/** Characters of a name, before what tells it from others of the same text. */
const LENGTH = 48

/**
 * A text as the name of an object in Kubernetes (RFC 1123, a DNS label); undefined if nothing of it can be in one.
 * Accents are dropped, and every other character that a name may not have becomes a hyphen.
 */
export function nameFrom(text: string): string | undefined {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/^\*\./, 'wildcard-')
    .replace(/[^a-z0-9]+/g, '-')
  const cut = plain.length <= LENGTH ? plain : wholeWords(plain)
  return cut.replace(/^-+|-+$/g, '') || undefined
}

/** As many words as fit. */
function wholeWords(text: string): string {
  const start = text.slice(0, LENGTH + 1)
  const end = start.lastIndexOf('-')
  return end > LENGTH / 2 ? start.slice(0, end) : text.slice(0, LENGTH)
}

/**
 * A name that no reader of YAML takes for a boolean, null, a number or a date where someone writes it without quotes:
 * `on` becomes `backend-on`.
 *
 * @param kind what such a name begins with
 */
export function unmistakable(name: string, kind: string): string {
  return looksLikeAnother(name) ? `${kind}-${name}`.slice(0, LENGTH).replace(/-+$/, '') : name
}

/** An object that needs a name. */
export interface Unnamed {
  readonly id: string
  /** When it was created, in milliseconds. */
  readonly createdMs: number
  /** A name that it has already, such as that of the resource that its mark names. */
  readonly given: string | undefined
  /** Texts that people know it by, the best first. */
  readonly texts: readonly (string | undefined)[]
  /** The name without any of these, `backend`. */
  readonly otherwise: string
}

/**
 * A name for each of the objects, which are of one kind and in one namespace, by id: each once, and the same whatever
 * the order and whichever newer objects there are.
 */
export function namesFor(objects: readonly Unnamed[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  const take = (id: string, name: string): void => {
    names.set(id, name)
    taken.add(name)
  }
  const sorted = [...objects].sort((a, b) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1))
  for (const { id, given } of sorted) if (given !== undefined && !taken.has(given)) take(id, given)
  for (const object of sorted) if (!names.has(object.id)) take(object.id, freeName(object, taken))
  return names
}

function freeName({ id, texts, otherwise }: Unnamed, taken: ReadonlySet<string>): string {
  const [first] = texts.flatMap((text) => nameFrom(text ?? '') ?? [])
  const own = first && unmistakable(first, otherwise)
  if (own !== undefined && !taken.has(own)) return own
  const tail = nameFrom(id.slice(-LENGTH)) ?? 'x'
  for (let length = Math.min(6, tail.length); ; length += 1) {
    // Beyond the id itself, hyphens tell names apart that differ in characters which no name may have.
    const end = length <= tail.length ? tail.slice(-length).replace(/^-+/, '') : `${tail}-${length - tail.length}`
    const name = `${own ?? otherwise}-${end}`
    if (!taken.has(name)) return name
  }
}
