import { Type } from 'typebox'
import {
  commonSpec,
  commonSpecRules,
  commonStatus,
  namespaceRule,
  reference,
  referenceFields,
} from '../../managed/descriptor/common.ts'
import { anyObject, bool, choice, integer, list, object, text } from '../../schema/define.ts'
import { defineKind, type SpecOf } from '../../schema/definition.ts'
import { atMostOne, fixedField, type Rule, unionOf } from '../../schema/rules.ts'
import { textBudget } from '../../schema/text-budget.ts'
import { managedColumns, textColumn } from '../building-blocks/columns.ts'
import { managedKind } from '../building-blocks/plain-kind.ts'
import { DOMAIN_LENGTH, HOST_PATTERN, HOST_WORDS } from '../certificates/domain-name.ts'
import { moduleStatus } from './module-status.ts'

/** The contract states no limits for these lists; these limits keep resources readable and rules affordable. */
const HOSTPORTS = 128
/** Limits for what a status shows of them. */
export const SHOWN_HOSTPORTS = { max: 2 * HOSTPORTS, length: 512 }
/** Hostports in a row of `kubectl get`. */
export const HOSTPORTS_IN_ROW = 3
const REFERENCES = 64
const RULES = 32
const EXPRESSIONS = 16
const ACTIONS = 16
const EXPRESSION = 16_384
/**
 * Characters of all expressions of a traffic policy together, so that a policy written out in full still fits into a
 * resource.
 */
const ALL_EXPRESSIONS = 65_536

/** A name that the service judges. */
const PRINTABLE = '^[!-~]+$'

const hostport = object(
  {
    type: choice(['Host', 'ReservedDomain', 'ReservedAddress'], {
      description:
        'What the edge listens on. Host: `host` and `port`. ReservedDomain: `reservedDomainRef` and `port`. ReservedAddress: `reservedAddressRef`, which has its own port.',
    }),
    host: Type.Optional(
      text({
        description:
          'A reserved domain of the account, a name one label below a reserved wildcard domain, or, with its port, a reserved address; in lower case.',
        maxLength: DOMAIN_LENGTH,
        pattern: HOST_PATTERN,
        mustBe: HOST_WORDS,
      }),
    ),
    reservedDomainRef: Type.Optional(reference('ReservedDomain')),
    reservedAddressRef: Type.Optional(reference('ReservedAddress')),
    port: Type.Optional(
      integer({
        description: 'Port, 1 to 65535. Not with ReservedAddress.',
        minimum: 1,
        maximum: 65_535,
      }),
    ),
  },
  {
    description:
      'A place where the edge listens: a host and port, a reserved domain and port, or a reserved address. For a wildcard domain, set `host` to a name below it.',
    rules: [
      unionOf('type', {
        Host: 'host',
        ReservedDomain: 'reservedDomainRef',
        ReservedAddress: 'reservedAddressRef',
      }),
      {
        rule: "has(self.port) == (self.type != 'ReservedAddress')",
        message:
          'port goes with type Host and ReservedDomain, and not with ReservedAddress, which has its own: add or remove port',
      },
    ],
  },
)

const enabled = Type.Optional(
  bool({
    description:
      'Whether the module is applied to traffic. If false, the module is disabled with its other fields here, or, without any, with what it holds at the API: objects that it refers to count as used until the module is removed from the spec. If the service takes no contents of a disabled module, they are sent when it is enabled. Default: true.',
  }),
)

/** Rule of a module: one of `fields` is needed unless the module is disabled. */
function needed(fields: readonly string[], remedy: string): Rule {
  const there = fields.map((field) => `has(self.${field})`).join(' || ')
  return {
    rule: `(has(self.enabled) && !self.enabled) || ${there}`,
    message: `${fields.join(' or ')} is needed while the module is enabled: ${remedy}, or set enabled: false`,
  }
}

const backend = object(
  { enabled, ...referenceFields('Backend') },
  {
    description:
      'The Backend that traffic goes to, by exactly one of name and id; neither is required if `enabled` is false.',
    rules: [needed(['name', 'id'], 'name a Backend'), atMostOne(['name', 'id']), namespaceRule],
  },
)

const ipRestriction = object(
  {
    enabled,
    ipPolicyRefs: Type.Optional(
      list(reference('IPPolicy'), {
        description: `IP policies that decide who may connect, at most ${REFERENCES}. Required unless \`enabled\` is false. A policy that was deleted at the API is left out when the list changes, as long as another remains.`,
        minItems: 1,
        maxItems: REFERENCES,
      }),
    ),
  },
  {
    description:
      'Lets in only the addresses that the IP policies allow. The edge is not created until every policy has all of its rules.',
    rules: [needed(['ipPolicyRefs'], 'name at least one policy')],
  },
)

const mutualTLS = object(
  {
    enabled,
    certificateAuthorityRefs: Type.Optional(
      list(reference('CertificateAuthority'), {
        description: `Authorities whose client certificates are accepted, at most ${REFERENCES}. Required unless \`enabled\` is false.`,
        minItems: 1,
        maxItems: REFERENCES,
      }),
    ),
  },
  {
    description:
      'Lets in only clients with a certificate from these authorities. Only for TLS edges, and not with `terminateAt: Upstream`.',
    rules: [needed(['certificateAuthorityRefs'], 'name at least one authority')],
  },
)

const tlsTermination = object(
  {
    enabled,
    terminateAt: Type.Optional(
      choice(['Edge', 'Upstream'], {
        description:
          'Edge: the service terminates TLS. Upstream: TLS passes through to the agent or application, and mutualTLS and trafficPolicy cannot be enabled. Default: Edge.',
      }),
    ),
    minVersion: Type.Optional(
      text({
        description:
          'Lowest TLS version that clients may use: `1.0`, `1.1`, `1.2` or `1.3`, or another name that the service knows; 1 to 63 printable ASCII characters. Not with `terminateAt: Upstream`. Default: the service chooses; another version that is set at the API is then reverted, unless the edge was adopted.',
        minLength: 1,
        maxLength: 63,
        mustBe: 'the name of a TLS version, such as 1.2',
        pattern: PRINTABLE,
      }),
    ),
  },
  {
    description: 'Where TLS is terminated. Only for TLS edges.',
    // Atomic, because server-side apply cannot empty a granular object: it would set it to null.
    atomic: true,
    rules: [
      {
        rule: "!(has(self.terminateAt) && self.terminateAt == 'Upstream' && has(self.minVersion))",
        message: 'minVersion has no meaning with terminateAt: Upstream: remove minVersion, or set terminateAt: Edge',
      },
    ],
  },
)

const trafficAction = object(
  {
    type: text({
      description: 'Type of the action, as the service names it; at most 63 characters.',
      minLength: 1,
      maxLength: 63,
    }),
    config: Type.Optional(
      anyObject({ description: 'Settings of the action, an object whose fields depend on its type. Default: none.' }),
    ),
  },
  { description: 'What happens to matching traffic.' },
)

const trafficRule = object(
  {
    name: Type.Optional(
      text({ description: 'Name of the rule, at most 255 characters. Default: none.', maxLength: 255 }),
    ),
    expressions: Type.Optional(
      list(
        text({
          description: `A CEL expression. At most ${EXPRESSION} characters.`,
          minLength: 1,
          maxLength: EXPRESSION,
        }),
        {
          description: `CEL expressions that select traffic, at most ${EXPRESSIONS}; the rule applies when all are true. Default: none.`,
          maxItems: EXPRESSIONS,
        },
      ),
    ),
    actions: Type.Optional(
      list(trafficAction, { description: `Actions, in order, at most ${ACTIONS}. Default: none.`, maxItems: ACTIONS }),
    ),
  },
  { description: 'A rule of the traffic policy.' },
)

const trafficPolicy = object(
  {
    enabled,
    inbound: Type.Optional(
      list(trafficRule, {
        description: `Rules for inbound traffic, in order, at most ${RULES}. Default: none.`,
        maxItems: RULES,
      }),
    ),
    outbound: Type.Optional(
      list(trafficRule, {
        description: `Rules for outbound traffic, in order, at most ${RULES}. Default: none.`,
        maxItems: RULES,
      }),
    ),
  },
  {
    description: `Rules that act on traffic, for each direction. Their expressions may have at most ${ALL_EXPRESSIONS} characters together. Not for TLS edges with \`terminateAt: Upstream\`.`,
    // Atomic for the same reason as tlsTermination.
    atomic: true,
    rules: [textBudget({ lists: ['inbound', 'outbound'], texts: 'expressions', characters: ALL_EXPRESSIONS })],
  },
)

const isOn = (field: string): string => `(has(self.${field}) && (!has(self.${field}.enabled) || self.${field}.enabled))`

const passesThrough = `(${isOn('tlsTermination')} && has(self.tlsTermination.terminateAt) && self.tlsTermination.terminateAt == 'Upstream')`

function tlsOnly(field: string): Rule {
  return {
    rule: `self.protocol == 'TLS' || !has(self.${field})`,
    message: `${field} is for TLS edges: remove ${field}, or create an Edge with protocol: TLS`,
    fieldPath: `.${field}`,
  }
}

function notPassedThrough(field: string): Rule {
  return {
    rule: `!${passesThrough} || !${isOn(field)}`,
    message: `${field} cannot act on TLS that passes through: remove ${field} or set its enabled: false, or set tlsTermination.terminateAt: Edge`,
    fieldPath: `.${field}`,
  }
}

export const edgeDefinition = defineKind({
  ...managedKind,
  kind: 'Edge',
  plural: 'edges',
  singular: 'edge',
  shortNames: [],
  scope: 'Namespaced',
  description:
    'Where the service accepts TCP or TLS traffic, and what it does with it. `backend`, `ipRestriction`, `mutualTLS`, `tlsTermination` and `trafficPolicy` are its modules. An Edge is created with all modules that its spec names, once everything they refer to exists. A module that is removed from the spec is disabled and emptied.',
  spec: object(
    {
      ...commonSpec('bytes'),
      protocol: choice(['TCP', 'TLS'], { description: 'Protocol of the traffic. Immutable.' }),
      hostports: Type.Optional(
        list(hostport, {
          description: `Where the edge listens, in any order, at most ${HOSTPORTS}. Default: nowhere.`,
          maxItems: HOSTPORTS,
        }),
      ),
      backend: Type.Optional(backend),
      ipRestriction: Type.Optional(ipRestriction),
      trafficPolicy: Type.Optional(trafficPolicy),
      mutualTLS: Type.Optional(mutualTLS),
      tlsTermination: Type.Optional(tlsTermination),
    },
    {
      description: 'Desired state of the edge.',
      rules: [
        ...commonSpecRules,
        fixedField('protocol'),
        tlsOnly('mutualTLS'),
        tlsOnly('tlsTermination'),
        notPassedThrough('mutualTLS'),
        notPassedThrough('trafficPolicy'),
      ],
    },
  ),
  status: object(
    {
      ...commonStatus,
      hostports: Type.Optional(
        list(text({ description: 'host:port.', maxLength: SHOWN_HOSTPORTS.length }), {
          description: 'Where the edge listens.',
          maxItems: SHOWN_HOSTPORTS.max,
        }),
      ),
      hostportSummary: Type.Optional(
        text({
          description: `The hostports as one text for \`kubectl get\`: at most ${HOSTPORTS_IN_ROW}, and how many more there are.`,
          maxLength: HOSTPORTS_IN_ROW * (SHOWN_HOSTPORTS.length + 1) + 32,
        }),
      ),
      access: Type.Optional(
        choice(['Restricted', 'MutualTLS', 'Public'], {
          description:
            'Who may connect. Restricted: the addresses that IP policies allow, whether or not a client certificate is required too. MutualTLS: clients with a certificate, from any address. Public: everyone.',
        }),
      ),
      ...moduleStatus,
      foreignModules: Type.Optional(
        list(text({ description: 'Name of the module, as in the spec.', maxLength: 63 }), {
          description: 'Modules that were enabled outside Culvert. They are left as they are.',
          maxItems: 16,
          listType: 'set',
        }),
      ),
    },
    { description: 'Observed state of the edge.' },
  ),
  printerColumns: managedColumns(
    textColumn('Protocol', '.spec.protocol', 'Protocol of the traffic.'),
    textColumn('Access', '.status.access', 'Who may connect.'),
    textColumn('Hostports', '.status.hostportSummary', 'Where the edge listens.'),
  ),
  conditions: [
    {
      type: 'ServiceFollowed',
      description:
        'False while the Service that owns the Edge cannot be followed, such as one with an annotation that makes no sense; the message says what to mend. Otherwise absent.',
    },
  ],
})

export type EdgeSpec = SpecOf<typeof edgeDefinition>
