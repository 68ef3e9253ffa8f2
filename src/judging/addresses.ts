import ipaddr from 'ipaddr.js'
import {
  type Choices,
  type Finding,
  type IpRule,
  isKnown,
  type Known,
  type Read,
  type Restriction,
  type World,
} from './world.ts'

type Policies = World['policies']

/** What IP policies decide about, and under which reading. */
export interface AddressQuestion {
  readonly source: string
  readonly policies: Policies
  readonly choices: Choices
}

/** Every enforced restriction of the account must admit the address; the others only warn. */
export function judgeRestrictions(restrictions: readonly Known<Restriction>[], question: AddressQuestion): Finding {
  const judged = restrictions.filter(isKnown).map(({ value, source }) => {
    return { value, source, finding: judgePolicies(value.policies, question) }
  })
  const enforced = judged.filter(({ value }) => value.isEnforced)
  const refusing = enforced.find(({ finding }) => finding.outcome === 'refuses')
  if (refusing !== undefined) {
    const { value, source, finding } = refusing
    const text = `the restriction ${source.name} of the account does not admit it: ${finding.text}`
    return { outcome: 'refuses', text, rule: source.isHidden ? undefined : value.id, source: finding.source ?? source }
  }
  const unknown = restrictions.find((each) => 'unknown' in each)
  if (unknown !== undefined) return { outcome: 'unknown', text: unknown.unknown }
  const doubtful = enforced.find(({ finding }) => finding.outcome === 'unknown')
  if (doubtful !== undefined) return doubtful.finding
  const details = judged
    .filter(({ value, finding }) => !value.isEnforced && finding.outcome === 'refuses')
    .map(({ source, finding }) => `${source.name} is not enforced and only warns: ${finding.text}`)
  const none = 'no restriction of the account is enforced'
  return { outcome: 'passes', text: enforced.length === 0 ? none : 'the restrictions of the account admit it', details }
}

/** What IP policies say of the address, combined as the reading has it. Without any policy there are no rules. */
export function judgePolicies(ids: readonly string[], question: AddressQuestion): Finding {
  const combined = question.choices['several-policies']
  const [first, ...others] = ids
  if (combined === 'together' || first === undefined) return judgeTogether(ids, question)
  const head = judgeTogether([first], question)
  const each = [head, ...others.map((id) => judgeTogether([id], question))]
  const decisive = combined === 'any' ? 'passes' : 'refuses'
  const decided = each.find(({ outcome }) => outcome === decisive) ?? each.find(({ outcome }) => outcome === 'unknown')
  // The same for all of them: the one with a rule says most.
  return decided ?? each.find(({ rule }) => rule !== undefined) ?? head
}

/** A matching deny refuses it, else a matching allow admits it (`api-decisions.md § Behaviour`). */
function judgeTogether(ids: readonly string[], { source, policies, choices }: AddressQuestion): Finding {
  const found = ids.flatMap((id) => policies.get(id) ?? [])
  const rules = found.flatMap(({ value }) => value)
  const known = rules.filter(isKnown)
  const matching = known.filter(({ value }) => matches(value.cidr, source))
  const deny = matching.find(({ value }) => value.action === 'deny')
  if (deny !== undefined) return byRule('refuses', deny)
  const unknown = rules.find((each) => 'unknown' in each)
  if (unknown !== undefined) return { outcome: 'unknown', text: unknown.unknown }
  const [allow] = matching
  if (allow !== undefined) return byRule('passes', allow)
  const allowsAny = known.some(({ value }) => value.action === 'allow')
  if (!allowsAny && choices['without-allow'] === 'admitted') {
    return { outcome: 'passes', text: 'no rule matches it, and none allows others alone' }
  }
  const [first] = found
  const names = found.map((each) => each.source.name).join(' or ')
  const text = known.length === 0 ? `${names || 'it'} has no rules` : `no rule of ${names} matches ${source}`
  return { outcome: 'refuses', text, source: first?.source }
}

function byRule(outcome: 'passes' | 'refuses', { value, source }: Read<IpRule>): Finding {
  const { action, cidr, id } = value
  if (source.isHidden) return { outcome, text: `a rule of ${source.name} matches it`, source }
  return { outcome, text: `the rule ${action} ${cidr} of ${source.name} matches it`, rule: id, source }
}

/** Whether an address is in a range; an IPv4 address that is mapped into IPv6 is the IPv4 address, also in a range. */
function matches(cidr: string, address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const client = ipaddr.process(address)
  const [text = '', length] = cidr.split('/')
  if (!ipaddr.isValid(text)) return false
  const written = ipaddr.parse(text)
  const isMapped = written instanceof ipaddr.IPv6 && written.isIPv4MappedAddress()
  const bits = length === undefined ? written.toByteArray().length * 8 : Number(length)
  const [network, prefix] = isMapped && bits >= 96 ? [written.toIPv4Address(), bits - 96] : [written, bits]
  return network.kind() === client.kind() && client.match(network, prefix)
}
