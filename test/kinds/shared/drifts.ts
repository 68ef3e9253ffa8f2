import type { Body } from '../kind-test-data.ts'

/** A module that is off. */
export const disabled = { enabled: false }

export function asBody(value: unknown): Body {
  return typeof value === 'object' && value !== null ? (value as Body) : {}
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
