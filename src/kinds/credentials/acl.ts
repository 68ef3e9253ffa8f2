import { Type } from 'typebox'
import type { AccessNeeds } from '../../managed/descriptor/access.ts'
import type { JudgeRisks } from '../../managed/descriptor/desired.ts'
import { list, text } from '../../schema/define.ts'
import { isDomainPattern } from '../../util/domain-pattern.ts'
import { cut } from '../../util/printable.ts'
import { sorted, textsOf } from '../building-blocks/remote.ts'

/** The contract states no limits. */
const RULES = 256
const RULE_LENGTH = 512

/** Control characters, line ends, and those that change the reading order; as CEL writes them. */
const MISLEADING = String.raw`\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069`

const rule = text({
  description:
    '`bind:` followed by what may be bound: a domain (`bind:*.example.com` for every name below it), an address (`bind:1.tcp.example.com:12345`) or a label (`bind:app=shop`; `*` for any key or value; the value is everything after the first `=`). Or `*` alone, which permits everything.',
  minLength: 1,
  maxLength: RULE_LENGTH,
  rules: [
    {
      rule: `!self.matches('[${MISLEADING}]')`,
      message: 'acl has a control character, which no label has: remove it',
    },
    {
      rule: "self == '*' || (self.startsWith('bind:') && self != 'bind:')",
      message:
        'acl takes rules bind:<domain>, bind:<host>:<port> and bind:<key>=<value>, and * alone: write bind:*.example.com, bind:1.tcp.example.com:12345 or bind:app=shop',
    },
  ],
})

/**
 * What a tunnel or SSH credential may bind. An empty list is refused: it reads like "nothing" but would permit
 * everything.
 */
export const acl = list(rule, {
  description:
    'Rules for the domains, addresses and labels that tunnels started with this credential may bind; from 1 to 256. Order does not matter. Default: no restrictions.',
  minItems: 1,
  maxItems: RULES,
  rules: [
    {
      rule: "size(self) == 1 || !self.exists(rule, rule == '*')",
      message: 'acl has * beside other rules, which * makes meaningless: remove * or the others',
    },
  ],
})

/** Status field of kinds with an ACL. */
export const aclStatus = {
  acl: Type.Optional(
    list(text({ description: 'A rule; `*` alone permits everything.', maxLength: RULE_LENGTH }), {
      description: `The rules in effect at the API, regardless of who set them; at most ${RULES} are shown.`,
      maxItems: RULES,
    }),
  ),
}

/** Value of that field. An ACL without rules permits everything, which the status shows as `*`. */
export function shownACL(value: unknown): readonly string[] {
  const rules = comparableACL(value)
  return rules.length === 0 ? ['*'] : rules.slice(0, RULES).map((rule) => cut(rule, RULE_LENGTH))
}

/**
 * Rules, sent or returned, in a comparable form: a set, with hosts in lower case and labels unchanged; `*` equals no
 * rules (ACL rule 6).
 */
export function comparableACL(value: unknown): readonly string[] {
  const rules = sorted(textsOf(value).map((text) => (text.includes('=') ? text : text.toLowerCase())))
  return rules.length === 1 && rules[0] === '*' ? [] : rules
}

/**
 * The `acl` to send. A new credential without rules is sent none. An existing one is sent `*` to remove its rules: the
 * contract defines `*` as permitting everything, but does not define an empty list.
 */
export function wantedACL(rules: readonly string[] | undefined, exists: boolean): readonly string[] | undefined {
  return rules === undefined && !exists ? undefined : [...new Set(rules ?? ['*'])]
}

/** The rules of an object as a spec has them; undefined if it permits everything. */
export function writtenACL(value: unknown): readonly string[] | undefined {
  const rules = [...new Set(textsOf(value))]
  return comparableACL(rules).length === 0 ? undefined : rules
}

/** More may be bound with a credential when it gets rules, or loses all of them (ACL rules 1 and 6). */
export const aclRisks: JudgeRisks = ({ before, after }) => {
  if (before === undefined || after === undefined) return []
  const [was, is] = [comparableACL(before.acl), comparableACL(after.acl)]
  if (was.length === 0) return []
  if (is.length === 0) return [{ type: 'opened', text: 'the credential may bind everything' }]
  const more = is.filter((rule) => !was.includes(rule))
  return more.length === 0 ? [] : [{ type: 'opened', text: `the credential may bind more: ${more.join(', ')}` }]
}

/**
 * What a credential with these rules may bind: everything if there are none (ACL rules 1 and 6). The contract leaves
 * open what a target may be that is no label and has no DNS name as its host: it needs every domain and label.
 */
export function aclNeeds({ acl: rules = ['*'] }: { readonly acl?: readonly string[] | undefined }): AccessNeeds {
  const path = 'spec.acl'
  const targets = rules.map((rule) => rule.replace(/^bind:/, ''))
  const needs = targets.map((target) => {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(target) ?? []
    if (key !== undefined && value !== undefined) return { bound: [{ path, key, value }] }
    const domain = target.replace(/:[1-9][0-9]{0,4}$/, '').toLowerCase()
    if (isDomainPattern(domain)) return { domains: [{ path, domain }] }
    return { domains: [{ path, domain: '*' }], bound: [{ path, key: '*', value: '*' }] }
  })
  return {
    domains: needs.flatMap(({ domains = [] }) => domains),
    bound: needs.flatMap(({ bound = [] }) => bound),
  }
}
