import { type AclRule, parseAclRule } from '../fields/acl.ts'
import { type Reader, reader } from '../fields/field.ts'
import { domainName, hostport } from '../fields/hostname.ts'
import { exactlyOne, mapOf, object, string } from '../fields/readers.ts'
import type { Services } from '../objects/write-context.ts'
import { isJsonObject, type Json, type JsonObject, textsOf } from '../values/json.ts'
import { invalid, RequestError } from '../values/request-error.ts'
import type { Agent } from './stored-agent.ts'

/**
 * Admits an agent to a session, as the service does when it connects: its credential must still exist and its owner be
 * active, the IP restrictions of type `agent` must admit its address, and the credential's ACL must permit what it
 * binds. Returns the ids of the restrictions that only warn.
 */
export function admitAgent(
  { credential_id, ip, bindings }: Pick<Agent, 'credential_id' | 'ip' | 'bindings'>,
  account: string,
  { store, resources, agentRestrictions }: Services,
): string[] {
  const id = credential_id
  const credential = store.get(account, resources.ofId(id).path, id)
  if (credential === undefined) throw new RequestError('notFound', `the credential ${id} was deleted`, { id })
  const owner = store.get(account, 'bot_users', String(credential.owner_id))
  if (owner?.active === false) {
    throw new RequestError('inactive', `the bot user that owns ${id} is not active`, { id: owner.id })
  }
  const { enforced, warnings } = agentRestrictions.judge(account, ip)
  if (enforced.length > 0) {
    const ids = enforced.join(',')
    throw new RequestError('sourceRefused', `the IP restriction ${ids} does not admit ${ip}`, { ids, address: ip })
  }
  const acl = textsOf(credential.acl)
  const missing = missingRules(acl, bindings)
  if (missing.length > 0) {
    const rules = missing.join(', ')
    throw new RequestError('bindForbidden', `the ACL of ${id} lacks ${rules}; it permits ${acl.join(', ')}`, {
      id,
      rules,
    })
  }
  return [...warnings]
}

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
function missingRules(acl: readonly string[], bindings: readonly Json[]): readonly string[] {
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
