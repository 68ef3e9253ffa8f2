import { Type } from 'typebox'
import {
  commonSpec,
  commonSpecRules,
  commonStatus,
  namespaceRule,
  reference,
  referenceFields,
} from '../../managed/descriptor/common.ts'
import { SERVICE_FOLLOWED } from '../../managed/descriptor/readiness.ts'
import { anyObject, bool, choice, integer, list, object, text } from '../../schema/define.ts'
import { defineKind, type SpecOf } from '../../schema/definition.ts'
import { atMostOne, fixedField, type Rule, unionOf } from '../../schema/rules.ts'
import { textBudget } from '../../schema/text-budget.ts'
import { conditionColumn, managedColumns, textColumn } from '../building-blocks/columns.ts'
import { managedKind } from '../building-blocks/plain-kind.ts'
import { DOMAIN_LENGTH, HOST_PATTERN, HOST_WORDS } from '../certificates/domain-name.ts'
import { moduleStatus } from './module-status.ts'

/** The contract states no limits for these lists; these limits keep resources readable and rules affordable. */
const HOSTPORTS = 128
/** Agents come and go, so an edge is Ready even while nothing answers. */
export const SERVING = {
  type: 'Serving',
  description:
    'False while no admitted connection can be answered: the backend is missing or disabled, no backend has a weight above 0, or no tunnel is online, as of the last read of the API (at most the `resyncInterval` of the account ago). True otherwise; absent while unknown, for example because no resource manages the backend. Does not affect Ready.',
  informational: true,
} as const
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
        'Type of the endpoint. Host: `host` and `port`. ReservedDomain: `reservedDomainRef` and `port`. ReservedAddress: `reservedAddressRef`, which includes the port.',
    }),
    host: Type.Optional(
      text({
        description:
          'A reserved domain of the account, a direct subdomain of a reserved wildcard domain, or the host of a reserved address, together with its port; in lower case.',
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
      'An endpoint on which the edge listens: a host and port, a reserved domain and port, or a reserved address. For a wildcard domain, set `host` to a subdomain.',
    rules: [
      unionOf('type', {
        Host: 'host',
        ReservedDomain: 'reservedDomainRef',
        ReservedAddress: 'reservedAddressRef',
      }),
      {
        rule: "has(self.port) == (self.type != 'ReservedAddress')",
        message:
          'port is required with type Host and ReservedDomain, and not allowed with ReservedAddress, which includes the port: add or remove port',
      },
    ],
  },
)

const enabled = Type.Optional(
  bool({
    description:
      'Whether the module is applied to traffic. If false, the module is disabled and keeps the contents set here or, if none are set, its present contents: objects that it refers to count as used until the module is removed from the spec. If the service accepts no contents for a disabled module, they are sent when it is enabled. Default: true.',
  }),
)

/** Rule of a module: one of `fields` is needed unless the module is disabled. */
function needed(fields: readonly string[], remedy: string): Rule {
  const there = fields.map((field) => `has(self.${field})`).join(' || ')
  return {
    rule: `(has(self.enabled) && !self.enabled) || ${there}`,
    message: `${fields.join(' or ')} is required while the module is enabled: ${remedy}, or set enabled: false`,
  }
}

const backend = object(
  { enabled, ...referenceFields('Backend') },
  {
    description:
      'The Backend that receives the traffic. Exactly one of name and id; neither is required if `enabled` is false.',
    rules: [needed(['name', 'id'], 'name a Backend'), atMostOne(['name', 'id']), namespaceRule],
  },
)

const ipRestriction = object(
  {
    enabled,
    ipPolicyRefs: Type.Optional(
      list(reference('IPPolicy'), {
        description: `IP policies that decide which clients may connect, at most ${REFERENCES}. Required unless \`enabled\` is false. A policy that was deleted in the service is omitted when the list changes, as long as another remains.`,
        minItems: 1,
        maxItems: REFERENCES,
      }),
    ),
  },
  {
    description:
      'Admits only addresses that the IP policies allow. The edge is not created until every policy has all of its rules.',
    rules: [needed(['ipPolicyRefs'], 'add at least one policy')],
  },
)

const mutualTLS = object(
  {
    enabled,
    certificateAuthorityRefs: Type.Optional(
      list(reference('CertificateAuthority'), {
        description: `Certificate authorities whose client certificates are accepted, at most ${REFERENCES}. Required unless \`enabled\` is false.`,
        minItems: 1,
        maxItems: REFERENCES,
      }),
    ),
  },
  {
    description:
      'Admits only clients with a certificate from these authorities. Only for TLS edges, and not with `terminateAt: Upstream`.',
    rules: [needed(['certificateAuthorityRefs'], 'add at least one authority')],
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
          'Minimum TLS version of clients: `1.0`, `1.1`, `1.2`, `1.3` or another version that the service supports; 1 to 63 printable ASCII characters. Not with `terminateAt: Upstream`. Default: the service chooses; a different version set outside Culvert is then reverted, unless the edge was adopted.',
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
        message: 'minVersion has no effect with terminateAt: Upstream: remove minVersion, or set terminateAt: Edge',
      },
    ],
  },
)

const trafficAction = object(
  {
    type: text({
      description: 'Type of the action, as defined by the service; at most 63 characters.',
      minLength: 1,
      maxLength: 63,
    }),
    config: Type.Optional(
      anyObject({ description: 'Settings of the action, an object whose fields depend on its type. Default: none.' }),
    ),
  },
  { description: 'An action for matching traffic.' },
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
    message: `${field} is allowed only for TLS edges: remove ${field}, or create an Edge with protocol: TLS`,
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
    'Accepts TCP or TLS traffic at the service. `backend`, `ipRestriction`, `mutualTLS`, `tlsTermination` and `trafficPolicy` are its modules. An Edge is created with all modules set in its spec, once everything they refer to exists. A module that is removed from the spec is disabled and emptied.',
  spec: object(
    {
      ...commonSpec('bytes'),
      protocol: choice(['TCP', 'TLS'], { description: 'Protocol of the traffic. Immutable.' }),
      hostports: Type.Optional(
        list(hostport, {
          description: `Endpoints on which the edge listens, at most ${HOSTPORTS}; order does not matter. Default: none.`,
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
          description: 'Endpoints on which the edge listens.',
          maxItems: SHOWN_HOSTPORTS.max,
        }),
      ),
      hostportSummary: Type.Optional(
        text({
          description: `The hostports as one string for \`kubectl get\`: at most ${HOSTPORTS_IN_ROW}, and the number of further ones.`,
          maxLength: HOSTPORTS_IN_ROW * (SHOWN_HOSTPORTS.length + 1) + 32,
        }),
      ),
      access: Type.Optional(
        choice(['Restricted', 'MutualTLS', 'Public'], {
          description:
            'Which clients may connect. Restricted: only from addresses that IP policies allow, whether or not a client certificate is also required. MutualTLS: from any address with a client certificate. Public: all.',
        }),
      ),
      ...moduleStatus,
      foreignModules: Type.Optional(
        list(text({ description: 'Name of the module, as in the spec.', maxLength: 63 }), {
          description: 'Modules that were enabled outside Culvert. They are not changed.',
          maxItems: 16,
          listType: 'set',
        }),
      ),
    },
    { description: 'Observed state of the edge.' },
  ),
  addressPath: '.status.hostports',
  printerColumns: managedColumns(
    textColumn('Protocol', '.spec.protocol', 'Protocol of the traffic.'),
    textColumn('Access', '.status.access', 'Who may connect.'),
    conditionColumn('Serving', SERVING.type, 'Whether a backend can answer: status of the condition Serving.'),
    textColumn('Hostports', '.status.hostportSummary', 'Endpoints on which the edge listens.'),
  ),
  conditions: [...managedKind.conditions, SERVING, SERVICE_FOLLOWED],
})

export type EdgeSpec = SpecOf<typeof edgeDefinition>
