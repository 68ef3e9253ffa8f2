import type { Body, KeyRef, Ref, Resolved } from './types.ts'

/** A text in the spec, or in the Secret or ConfigMap that it names. */
export function given(spec: Body, field: string, { input }: Resolved): unknown {
  const from = spec[`${field}From`] as { readonly secretKeyRef?: KeyRef; readonly configMapKeyRef?: KeyRef } | undefined
  if (from?.secretKeyRef !== undefined) return input('Secret', from.secretKeyRef)
  if (from?.configMapKeyRef !== undefined) return input('ConfigMap', from.configMapKeyRef)
  return spec[field]
}

/** Certificates are signed with a resolution of a second. */
export function seconds(time: unknown): number {
  return Math.floor(Date.parse(String(time)) / 1000) * 1000
}

/** Type and key; the comment has no meaning. */
export function keyOf(line: unknown): string {
  return String(line).trim().split(/\s+/).slice(0, 2).join(' ')
}

export function pemOf(text: unknown): readonly string[] {
  const blocks = String(text).match(/-----BEGIN CERTIFICATE-----[^-]*/g) ?? []
  return blocks.map((block) => block.replaceAll(/\s/g, ''))
}

export function idsOf(kind: string, refs: unknown, { id }: Resolved): readonly unknown[] {
  return sorted([...new Set((list(refs) as readonly Ref[]).map((ref) => id(kind, ref)))])
}

export function idOf(ref: unknown): unknown {
  return (ref as Body | null | undefined)?.id ?? null
}

export function typeOf(source: unknown): unknown {
  return (source as Body).type
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function lowerSet(value: unknown): readonly unknown[] {
  return sorted([...new Set(list(value).map((text) => String(text).toLowerCase()))])
}

export function lowerCased(headers: unknown): Body {
  return Object.fromEntries(Object.entries((headers ?? {}) as Body).map(([name, value]) => [name.toLowerCase(), value]))
}

export function sorted(values: readonly unknown[]): readonly unknown[] {
  const text = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value))
  return values.toSorted((left, right) => (text(left) < text(right) ? -1 : Number(text(left) > text(right))))
}

/**
 * The keys next to Culvert's marker in the metadata of an object. In an adopted object, which has no marker, only the
 * keys that the spec sets count.
 */
export function ownKeys(metadata: unknown, declared: unknown): unknown {
  const wanted = Object.keys((declared ?? {}) as Body)
  const { culvert, ...keys } = parsed(metadata)
  return Object.fromEntries(Object.entries(keys).filter(([key]) => culvert !== undefined || wanted.includes(key)))
}

/** Metadata as an object, if it is one. */
export function parsed(metadata: unknown): Body {
  try {
    return JSON.parse(String(metadata)) as Body
  } catch {
    return {}
  }
}
