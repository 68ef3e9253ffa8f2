import type { FastifyRequest } from 'fastify'
import { invalid } from '../errors.ts'

/** A whole number in the query; `fallback` if it is absent. */
export function numberInQuery(request: FastifyRequest, name: string, fallback: number): number {
  const text = new URLSearchParams(request.url.split('?')[1] ?? '').get(name)
  if (text === null) return fallback
  if (!/^\d{1,12}$/.test(text)) throw invalid(name, 'must be a whole number')
  return Number(text)
}

/** The named texts that are in the query. */
export function textsInQuery<T extends string>(
  request: FastifyRequest,
  names: readonly T[],
): Partial<Record<T, string>> {
  const query = new URLSearchParams(request.url.split('?')[1] ?? '')
  const result: Partial<Record<T, string>> = {}
  for (const name of names) {
    const value = query.get(name)
    if (value !== null) result[name] = value
  }
  return result
}
