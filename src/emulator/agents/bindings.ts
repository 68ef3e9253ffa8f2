import { invalid } from '../errors.ts'
import { type AclRule, parseAclRule } from '../fields/acl.ts'
import { type Reader, reader } from '../fields/field.ts'
import { domainName, hostport } from '../fields/hostname.ts'
import { exactlyOne, mapOf, object, string } from '../fields/readers.ts'
import { isJsonObject, type Json, type JsonObject } from '../json.ts'

const form = object({
  labels: { read: mapOf(string), absent: null },
  domain: { read: domainName, absent: null },
  address: { read: hostport, absent: null },
})

/** What one tunnel of an agent binds: labels, a domain or an address; the other two are null. */
export const binding: Reader<JsonObject> = reader(
  { ...form.schema, description: 'Exactly one of labels, domain and address.' },
  (value, at) => {
    const read = form(value, at)
    exactlyOne(read, ['labels', 'domain', 'address'], at)
    if (isJsonObject(read.labels) && Object.keys(read.labels).length === 0) {
      throw invalid(`${at}.labels`, 'must hold a label')
    }
    return read
  },
)

/** One thing that a tunnel needs permission for. */
type Target =
  | { readonly kind: 'domain'; readonly name: string }
  | { readonly kind: 'address'; readonly host: string; readonly port: number }
  | { readonly kind: 'label'; readonly key: string; readonly value: string }

/**
 * The rules that these tunnels need and the ACL lacks, such as `bind:app=web`; none when it permits them all
 * (`management-api.md § Access credentials`, ACL rules). For a tunnel with several labels, each needs a rule.
 */
export function missingRules(acl: readonly string[], bindings: readonly Json[]): readonly string[] {
  if (acl.length === 0) return []
  const rules = acl.map(parseAclRule).filter((rule) => typeof rule !== 'string')
  const targets = bindings.filter(isJsonObject).flatMap(targetsOf)
  return targets.filter((target) => !rules.some((rule) => permits(rule, target))).map(ruleFor)
}

function targetsOf({ labels, domain, address }: JsonObject): readonly Target[] {
  if (typeof domain === 'string') return [{ kind: 'domain', name: domain }]
  if (typeof address === 'string') {
    const split = address.lastIndexOf(':')
    return [{ kind: 'address', host: address.slice(0, split), port: Number(address.slice(split + 1)) }]
  }
  return Object.entries(isJsonObject(labels) ? labels : {}).map(([key, value]) => {
    return { kind: 'label', key, value: String(value) }
  })
}

/** An address target may omit the port (rule 5) and then looks like a domain. */
function permits(rule: AclRule, target: Target): boolean {
  if (rule.kind === 'all') return true
  switch (target.kind) {
    case 'domain':
      return rule.kind === 'domain' && covers(rule.name, target.name)
    case 'address':
      if (rule.kind === 'domain') return covers(rule.name, target.host)
      return rule.kind === 'address' && rule.host === target.host && rule.port === target.port
    case 'label':
      return (
        rule.kind === 'label' &&
        (rule.key === undefined || rule.key === target.key) &&
        (rule.value === undefined || rule.value === target.value)
      )
  }
}

/** A wildcard covers every name with its suffix, however many labels are in front (rule 3). */
function covers(pattern: string, name: string): boolean {
  return pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern
}

function ruleFor(target: Target): string {
  switch (target.kind) {
    case 'domain':
      return `bind:${target.name}`
    case 'address':
      return `bind:${target.host}:${target.port}`
    case 'label':
      return `bind:${target.key}=${target.value}`
  }
}
