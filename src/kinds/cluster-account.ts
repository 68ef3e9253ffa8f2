import { Type } from 'typebox'
import { type Reach, unmanagedObjects } from '../managed/descriptor/access.ts'
import { accountSpecFields, accountSpecRules, accountStatusFields } from '../managed/descriptor/account.ts'
import type { AccountDescriptor } from '../managed/descriptor/descriptor.ts'
import { labelSelector } from '../managed/descriptor/label-selector.ts'
import { mirrorElsewhere, shownCondition } from '../managed/descriptor/mirror.ts'
import { choice, integer, list, object, stringMap, text } from '../schema/define.ts'
import { defineKind, type KindDefinition } from '../schema/definition.ts'
import { mapLimit } from '../schema/rules.ts'
import { stateColumns, textColumn } from './building-blocks/columns.ts'
import { common } from './building-blocks/plain-kind.ts'
import { DOMAIN_LENGTH, DOMAIN_PATTERN, DOMAIN_WORDS } from './certificates/domain-name.ts'

/**
 * An account that resources in several namespaces may use, as `access` allows. `members`: every kind whose resources
 * live in accounts.
 */
export function clusterAccountFor(members: readonly MemberKind[]): AccountDescriptor {
  return { role: 'account', definition: definitionFor(members), secretNamespace: 'operator' }
}

function definitionFor(members: readonly MemberKind[]) {
  return defineKind({
    ...common,
    kind: 'ClusterAccount',
    plural: 'clusteraccounts',
    singular: 'clusteraccount',
    shortNames: ['cacct'],
    scope: 'Cluster',
    description:
      "An account at the service that several namespaces share: the address of its management API and the key to call it with. The key is in a Secret in the operator's namespace, where users of the account cannot read it.",
    spec: object(
      {
        ...accountSpecFields('the namespace of the operator'),
        mirrorSessions: Type.Optional(mirrorElsewhere),
        access: Type.Optional(accessField(members)),
      },
      { description: 'Which API to call, with which key, and who may use the account.', rules: accountSpecRules },
    ),
    status: object(accountStatusFields, { description: 'Observed state of the account.' }),
    printerColumns: stateColumns(textColumn('Base URL', '.spec.baseURL', 'Address of the API.')),
    conditions: [shownCondition],
  })
}

/** A kind whose resources live in an account. */
export interface MemberKind {
  readonly definition: Pick<KindDefinition, 'kind'>
  readonly reach: Reach
}

/** Together, these limits keep the largest legal spec small enough to store. */
const ENTRIES = 64
const DOMAINS = 16
const SELECTOR = { labels: 8, bytes: 512, expressions: 3 }
const LABELS = { count: 4, bytes: 256, value: 255 }

/** `spec.access` of a ClusterAccount, for the given kinds. */
function accessField(members: readonly MemberKind[]) {
  const namesOf = (reach: Reach): readonly string[] =>
    members.filter((member) => member.reach === reach).map(({ definition }) => definition.kind)
  const [first = '', ...others] = members.map(({ definition }) => definition.kind).sort()
  const beyond = namesOf('account').join(', ')
  const kinds = list(choice([first, ...others], { description: 'A kind.' }), {
    description: `Kinds that may be created. Default: every kind except those that reach beyond their namespace: ${beyond}. Anyone who may create one of these has a say in the whole account; some of them give access to the account or can cut it off.`,
    minItems: 1,
    maxItems: members.length,
    listType: 'set',
  })
  const entry = object(
    {
      namespaceSelector: labelSelector(
        'The namespaces, by their labels. As everywhere in Kubernetes, an empty selector `{}` selects every namespace.',
        SELECTOR,
      ),
      kinds: Type.Optional(kinds),
      unmanagedObjects: Type.Optional(
        choice(unmanagedObjects, {
          description:
            'How these resources may use objects of the account that no resource manages. Deny: not at all. Reference: specs may refer to them by id. Adopt: resources may also write to them: observe and adopt them (`spec.externalID`), create an IPPolicyRule in an IP policy by its id, and send a TunnelSessionCommand to a session that is not shown in any namespace; the first resource to do so owns the object from then on. An object that a resource in another namespace manages cannot be reached by its id under any of these: see `allowedReferences` of its kind. Default: Deny.',
        }),
      ),
      domains: Type.Optional(
        list(
          text({
            description: 'A domain in lower case, or `*.` and a domain for every name below it, at any depth.',
            minLength: 1,
            maxLength: DOMAIN_LENGTH,
            pattern: DOMAIN_PATTERN,
            mustBe: DOMAIN_WORDS,
          }),
          {
            description: `The only domains that these resources may name: as reserved domains, agent ingresses (including every name below), hosts of edges, principals of host certificates, and in \`acl\` of credentials, which is then required. At most ${DOMAINS}; an empty list allows none. Default: any.`,
            maxItems: DOMAINS,
            listType: 'set',
          },
        ),
      ),
      labels: Type.Optional(
        stringMap(text({ description: 'Value of the label.', minLength: 1, maxLength: LABELS.value }), {
          description: `Labels of tunnels, at most ${LABELS.count}. Backends that are tunnel groups must name each of them with its value, and may name others too; \`acl\` of credentials, which is then required, may bind these labels only to these values. Default: any labels.`,
          minProperties: 1,
          maxProperties: LABELS.count,
          rules: [mapLimit(LABELS.bytes, 6, 'labels')],
        }),
      ),
      requestsPerMinute: Type.Optional(
        integer({
          description:
            "Maximum requests per minute, on average, that Culvert sends for each namespace that the entry selects, for all its resources together. If several entries select a namespace, the smallest number counts, whatever kinds they allow. A list counts for the resource that needed it first. Requests over the limit wait, without delaying other namespaces; an operation in progress is not interrupted, but its excess is made up for later. Default: no limit besides the account's.",
          minimum: 1,
          maximum: 60_000,
        }),
      ),
    },
    { description: 'Namespaces, and what their resources may do in the account.' },
  )
  return list(entry, {
    description: `Who may use the account, and for what; at most ${ENTRIES} entries. Entries add up: a resource is allowed if one entry that selects its namespace allows all of it. Objects that are not allowed, or no longer, are left at the API unchanged. Default: nobody.`,
    maxItems: ENTRIES,
  })
}
