import type { Shown } from './emulated-life.ts'

type Body = Readonly<Record<string, unknown>>

/** Fields that the service chooses for each object. */
const OWN: ReadonlySet<string> = new Set([
  'id',
  'uri',
  'created_at',
  'addr',
  'ns_targets',
  'certificate_management_status',
])
const MODULES: readonly string[] = ['backend', 'ip_restriction', 'policy', 'mutual_tls', 'tls_termination']

/**
 * What two objects created from one spec have in common, by the contract (`management-api.md`) rather than by what the
 * descriptors treat as equal.
 */
export function meaningOf(spec: Body, { object, children }: Shown): unknown {
  const kept = Object.entries(object).filter(([name]) => !OWN.has(name))
  const fields = Object.fromEntries(kept.map(([name, value]) => [name, fieldMeaning(name, value)]))
  // Rules from elsewhere are not part of the policy's spec (`api-decisions.md`).
  const rules = spec.rulesSource !== 'IPPolicyRules' ? children.map(ruleMeaning).toSorted(byText) : []
  const text = JSON.stringify({ ...fields, ...ofCertificates(spec, object), rules })
  return JSON.parse(text.replaceAll(object.id, 'its-id'))
}

function fieldMeaning(name: string, value: unknown): unknown {
  if (MODULES.includes(name)) return moduleMeaning(value)
  switch (name) {
    case 'hostports':
    case 'principals':
    case 'destinations':
    case 'ip_policies':
      return sorted(value)
    case 'sources':
      return sorted((value as readonly Body[]).map(({ type }) => type))
    case 'acl':
      return aclMeaning(value as readonly string[])
    case 'cname_target':
    case 'acme_challenge_cname_target':
      return value === null ? null : 'one'
    case 'ca_pem':
      return String(value)
        .match(/-----BEGIN CERTIFICATE-----[^-]*/g)
        ?.map((block) => block.replaceAll(/\s/g, ''))
    default:
      return value
  }
}

/** A disabled module is equivalent to none. */
function moduleMeaning(value: unknown): unknown {
  const module = value as Body | null
  if (module === null || module.enabled === false) return null
  return Object.fromEntries(
    Object.entries(module).map(([name, found]) => [
      name,
      /^(ip_policies|certificate_authorities)$/.test(name) ? sorted(found) : found,
    ]),
  )
}

/** `*` is equivalent to no ACL (rule 6 of `§ Access credentials`); host names are case-insensitive, labels are not. */
function aclMeaning(rules: readonly string[]): unknown {
  const found = rules.map((rule) => (rule.includes('=') ? rule : rule.toLowerCase()))
  return found.length === 1 && found[0] === '*' ? [] : sorted([...new Set(found)])
}

/**
 * Values that differ in each object: keys of authorities, certificates, times that the spec leaves open, of which only
 * the difference counts. The comment of a public key has no meaning. Under a policy the service owns a domain's
 * certificate.
 */
function ofCertificates({ certificate: chosen, validAfter, validUntil }: Body, object: Body): Body {
  const { valid_after, valid_until, public_key, certificate_management_policy } = object
  // A certificate left by a policy, or set by others, stays if the spec does not mention it.
  if (certificate_management_policy || ('cname_target' in object && chosen === undefined)) return { certificate: null }
  if (valid_until === undefined) {
    if (public_key === undefined) return {}
    return { public_key: 'key_type' in object && !('certificate' in object) ? null : keyMeaning(public_key) }
  }
  const seconds = (Date.parse(String(valid_until)) - Date.parse(String(valid_after))) / 1000
  return {
    certificate: null,
    public_key: keyMeaning(public_key),
    valid_after: validAfter === undefined ? null : valid_after,
    valid_until: validAfter === undefined && validUntil === undefined ? `${seconds} s` : valid_until,
  }
}

function keyMeaning(line: unknown): string {
  return String(line).trim().split(' ').slice(0, 2).join(' ')
}

function ruleMeaning({ cidr, action, description, metadata }: Body): string {
  return JSON.stringify([cidr, action, description, metadata])
}

function sorted(value: unknown): readonly unknown[] {
  return (value as readonly unknown[]).toSorted((a, b) => byText(JSON.stringify(a), JSON.stringify(b)))
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
