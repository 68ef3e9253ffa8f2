import ipaddr from 'ipaddr.js'
import type { Choices } from '../choices/choices.ts'

const OFFSET_MS = 5.5 * 3_600_000
const OFFSET = '+05:30'
const PEM_BLOCK = /-----BEGIN ([^-]+)-----([^-]+)-----END \1-----/g
const PEM_LINE = 76

/** A time of the emulator, `2026-01-01T00:00:00Z`, in the chosen form. */
export function timeIn(form: Choices['times'], time: string): string {
  switch (form) {
    case 'utc':
      return time
    case 'offset':
      return new Date(Date.parse(time) + OFFSET_MS).toISOString().replace(/\.\d+Z$/, OFFSET)
    case 'fractions':
      return time.replace(/Z$/, '.000000000Z')
    case 'lower-case':
      return time.replace(/Z$/, '.000000000000Z').toLowerCase()
  }
}

/** A canonical range in the chosen form. */
export function cidrIn(form: Choices['cidr'], cidr: string): string {
  switch (form) {
    case 'canonical':
      return cidr
    case 'bare':
      return cidr.replace(cidr.includes(':') ? /\/128$/ : /\/32$/, '')
    case 'long': {
      const [address = '', length] = cidr.split('/')
      if (!ipaddr.IPv6.isValid(address)) return cidr
      const groups = ipaddr.IPv6.parse(address).parts.map((part) => part.toString(16).padStart(4, '0'))
      return `${groups.join(':').toUpperCase()}/${length}`
    }
  }
}

/** The certificates of a PEM in the chosen form. */
export function pemIn(form: Choices['pem'], pem: string): string {
  switch (form) {
    case 'to-the-letter':
      return pem
    case 'rewrapped':
      return blocksOf(pem, (label, body) => {
        const lines = body.match(new RegExp(`.{1,${PEM_LINE}}`, 'g')) ?? []
        return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\r\n')
      })
    case 'unwrapped':
      return blocksOf(pem, (label, body) => {
        return ['a certificate', `-----BEGIN ${label}-----`, body, `-----END ${label}-----`, '', ''].join('\n')
      })
  }
}

function blocksOf(pem: string, block: (label: string, body: string) => string): string {
  const blocks = [...pem.matchAll(PEM_BLOCK)]
  return blocks.map(([, label = '', body = '']) => block(label, body.replaceAll(/\s/g, ''))).join('')
}

/** A line in authorized-keys format in the chosen form. */
export function publicKeyIn(form: Choices['public-keys'], line: string): string {
  switch (form) {
    case 'to-the-letter':
      return line
    case 'no-comment':
      return line.trim().split(/\s+/).slice(0, 2).join(' ')
    case 'line-break':
      return `${line.trim()}\n`
  }
}

/** `x-reason` as `X-Reason`. */
export function capitalised(name: string): string {
  return name.replaceAll(/(^|-)([a-z])/g, (_, dash: string, letter: string) => `${dash}${letter.toUpperCase()}`)
}
