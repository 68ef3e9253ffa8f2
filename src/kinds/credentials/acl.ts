import { Type } from 'typebox'
import type { Claims } from '../../managed/descriptor/access.ts'
import { list, text } from '../../schema/define.ts'
import { cut, sorted, textsOf } from '../shared/remote.ts'

/** The contract states no limits. */
const RULES = 256
const RULE_LENGTH = 512

const LABEL = '[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?'
const HOST = `(${LABEL}[.])+${LABEL}`
/** The targets of `management-api.md § Access credentials`, ACL rules 3 to 5: a label, an address, a domain. */
const BIND = `^bind:([^=]+=([^=]|=)*|${HOST}:[1-9][0-9]{0,4}|([*][.])?${HOST})$`

const rule = text({
  description:
    '`bind:` and what may be bound: a domain (`bind:*.example.com` for all below it), an address (`bind:1.tcp.example.com:12345`) or a label (`bind:app=shop`; `*` for any key or value; what follows the first `=` is the value). Or `*` alone, which permits everything.',
  minLength: 1,
  maxLength: RULE_LENGTH,
  rules: [
    {
      rule: `self == '*' || self.matches('${BIND}')`,
      message:
        'acl takes rules bind:<domain>, bind:<host>:<port> and bind:<key>=<value>, and * alone: write bind:*.example.com, bind:1.tcp.example.com:12345 or bind:app=shop',
    },
  ],
})

/** What a tunnel or SSH credential may bind. An empty list is refused: it reads like "nothing", and would permit everything. */
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

/** Status field of a kind with rules. */
export const aclStatus = {
  acl: Type.Optional(
    list(text({ description: 'A rule; `*` alone permits everything.', maxLength: RULE_LENGTH }), {
      description: `The rules in effect at the API, whoever set them; at most ${RULES} are shown.`,
      maxItems: RULES,
    }),
  ),
}

/** Value of that field: no rules permit everything, and so says the status. */
export function shownACL(value: unknown): readonly string[] {
  const rules = comparableACL(value)
  return rules.length === 0 ? ['*'] : rules.slice(0, RULES).map((rule) => cut(rule, RULE_LENGTH))
}

/**
 * Rules sent or returned, in one form for comparing: a set; hosts without meaningless case, labels to the letter; `*` is what no rule
 * is (ACL rule 6).
 */
export function comparableACL(value: unknown): readonly string[] {
  const rules = sorted(textsOf(value).map((text) => (text.includes('=') ? text : text.toLowerCase())))
  return rules.length === 1 && rules[0] === '*' ? [] : rules
}

/**
 * `acl` as it should be. A new credential without rules is sent none; from one that has some they are taken by `*`, to which the contract
 * gives that meaning, as it does not to an empty list.
 */
export function wantedACL(rules: readonly string[] | undefined, exists: boolean): readonly string[] | undefined {
  return rules === undefined && !exists ? undefined : [...new Set(rules ?? ['*'])]
}

/** What a credential with these rules may bind; without any, everything (ACL rules 1 and 6). */
export function aclClaims({ acl: rules = ['*'] }: { readonly acl?: readonly string[] | undefined }): Claims {
  const path = 'spec.acl'
  const targets = rules.map((rule) => rule.replace(/^bind:/, ''))
  const isLabel = (target: string): boolean => target.includes('=')
  return {
    domains: targets
      .filter((target) => !isLabel(target))
      .map((target) => ({ path, domain: target.replace(/:[0-9]+$/, '').toLowerCase() })),
    bound: targets
      .filter((target) => isLabel(target) || target === '*')
      .map((target) => {
        const [key = '*', ...value] = target.split('=')
        return { path, key, value: value.length === 0 ? '*' : value.join('=') }
      }),
  }
}
