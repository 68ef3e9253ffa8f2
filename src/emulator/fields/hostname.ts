import { invalid } from '../errors.ts'
import type { Reader } from './field.ts'

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const ONLY_DIGITS = /^\d+$/

/** Whether `name` is a lower-case DNS name of at least two labels. */
function isHostname(name: string): boolean {
  const labels = name.split('.')
  return (
    name.length <= 253 &&
    labels.length >= 2 &&
    labels.every((label) => LABEL.test(label)) &&
    !ONLY_DIGITS.test(labels.at(-1) ?? '')
  )
}

/** A DNS name, lower-cased; with `*.` in front it stands for every name one label below. */
export const domainName: Reader<string> = (value, at) => {
  if (typeof value !== 'string') throw invalid(at, 'must be a string')
  const name = value.toLowerCase()
  if (!isHostname(name.replace(/^\*\./, ''))) throw invalid(at, `${JSON.stringify(value)} is not a domain name`)
  return name
}

/** `host:port`, the host lower-cased. That the account owns the host is checked by the edge. */
export const hostport: Reader<string> = (value, at) => {
  if (typeof value !== 'string') throw invalid(at, 'must be a string')
  const match = /^([^:\s]+):([1-9]\d{0,4})$/.exec(value)
  const host = match?.[1]?.toLowerCase()
  const port = Number(match?.[2])
  if (host === undefined || !isHostname(host) || port > 65_535) {
    throw invalid(at, `${JSON.stringify(value)} is not of the form host:port`)
  }
  return `${host}:${port}`
}

/** The reserved name that covers `host`: itself, or the wildcard that replaces its first label. */
export function coveringNames(host: string): readonly string[] {
  return [host, `*.${host.slice(host.indexOf('.') + 1)}`]
}
