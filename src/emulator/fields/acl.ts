import { isIPv4, isIPv6 } from 'node:net'
import { type Json, textsOf } from '../values/json.ts'
import { invalid } from '../values/request-error.ts'
import { type Reader, reader } from './field.ts'
import { isName } from './hostname.ts'
import { listOf, string } from './readers.ts'

/** What one rule of an ACL permits (`management-api.md § Access credentials`, ACL rules). */
export type AclRule =
  /** `*`: everything (rule 6). */
  | { readonly kind: 'all' }
  /** `bind:<domain>`, or an IPv6 address: that name; with `*.` in front, every name below it (rule 3). Lower-cased. */
  | { readonly kind: 'domain'; readonly name: string }
  /** `bind:<host>:<port>` (rule 5). Lower-cased. */
  | { readonly kind: 'address'; readonly host: string; readonly port: number }
  /** `bind:<key>=<value>`; undefined matches any (rule 4). Labels are compared exactly. */
  | { readonly kind: 'label'; readonly key: string | undefined; readonly value: string | undefined }

const BIND = 'bind:'

/** Parses one rule; a string says why it is not one. A rule with an `=` is a label. */
export function parseAclRule(rule: string): AclRule | string {
  if (rule === '*') return { kind: 'all' }
  if (!rule.startsWith(BIND)) return 'is neither * nor of the form bind:<target>'
  const target = rule.slice(BIND.length)
  if (target.includes('=')) return parseLabel(target)
  return target.includes(':') ? parseAddress(target) : parseDomain(target)
}

function parseLabel(target: string): AclRule | string {
  const split = target.indexOf('=')
  const [key, value] = [target.slice(0, split), target.slice(split + 1)]
  if (key === '') return 'names a label without a key'
  return { kind: 'label', key: key === '*' ? undefined : key, value: value === '*' ? undefined : value }
}

/** `host:port` or `[IPv6]:port`, where the host is a name or an IPv4 address; or an IPv6 address without a port. */
function parseAddress(target: string): AclRule | string {
  if (isIPv6(target)) return { kind: 'domain', name: target.toLowerCase() }
  const [, ip, name = '', port = ''] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+)):([1-9]\d{0,4})$/.exec(target) ?? []
  const host = (ip ?? name).toLowerCase()
  const isHost = ip === undefined ? isIPv4(host) || isName(host) : isIPv6(host)
  if (!isHost || Number(port) > 65_535) return 'names no address of the form host:port'
  return { kind: 'address', host, port: Number(port) }
}

function parseDomain(target: string): AclRule | string {
  const name = target.toLowerCase()
  const isDomain = isName(name.replace(/^\*\./, ''))
  return isDomain ? { kind: 'domain', name } : 'names no domain, no label key=value and no address host:port'
}

const list = listOf(string)

/**
 * The ACL of a credential: rules that parse, stored unchanged, since a client compares what it sent with what it reads.
 * An empty list restricts nothing, and neither does `*`, which must be the only rule.
 */
export const aclRules: Reader<string[]> = reader(
  { ...list.schema, description: 'Rules bind:<target>, or * alone.' },
  (value, at) => {
    const rules = list(value, at)
    rules.forEach((rule, index) => {
      const parsed = parseAclRule(rule)
      if (typeof parsed === 'string') throw invalid(`${at}[${index}]`, `the rule ${JSON.stringify(rule)} ${parsed}`)
      if (parsed.kind === 'all' && rules.length > 1) {
        throw invalid(`${at}[${index}]`, 'the rule "*" permits everything and stands alone')
      }
    })
    return rules
  },
)

/** Refuses hosts other than names of at least two labels and IPv4 addresses. */
export function refuseOtherHosts(acl: Json | undefined): void {
  for (const [index, rule] of textsOf(acl).entries()) {
    const parsed = parseAclRule(rule)
    if (typeof parsed === 'string' || parsed.kind === 'all' || parsed.kind === 'label') continue
    const host = parsed.kind === 'address' ? parsed.host : parsed.name.replace(/^\*\./, '')
    if (isIPv6(host) || !host.includes('.')) {
      throw invalid(`acl[${index}]`, `the rule ${JSON.stringify(rule)} names no host of at least two labels`)
    }
  }
}
