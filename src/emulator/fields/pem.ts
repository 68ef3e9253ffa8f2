import { X509Certificate } from 'node:crypto'
import { invalid } from '../errors.ts'
import type { Reader } from './field.ts'

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** One or more X.509 certificates in PEM, each of a certificate authority (`api-decisions.md § Values`); kept to the letter. */
export const caPem: Reader<string> = (value, at) => {
  if (typeof value !== 'string') throw invalid(at, 'must be a string')
  const blocks = value.match(BLOCK) ?? []
  if (blocks.length === 0) throw invalid(at, 'holds no certificate in PEM')
  blocks.forEach((block, index) => {
    if (!parse(block, at, index).ca) throw invalid(at, `certificate ${index + 1} is not of a certificate authority`)
  })
  return value
}

function parse(block: string, at: string, index: number): X509Certificate {
  try {
    return new X509Certificate(block)
  } catch {
    throw invalid(at, `certificate ${index + 1} cannot be read as X.509`)
  }
}
