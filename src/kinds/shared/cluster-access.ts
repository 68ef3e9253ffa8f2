import { Type } from 'typebox'
import { type Reach, unmanagedObjects } from '../../managed/descriptor/access.ts'
import { labelSelector } from '../../managed/descriptor/label-selector.ts'
import { choice, integer, list, object, stringMap, text } from '../../schema/define.ts'
import type { KindDefinition } from '../../schema/definition.ts'
import { mapLimit } from '../../schema/rules.ts'
import { DOMAIN_LENGTH, DOMAIN_PATTERN } from '../certificates/domain-name.ts'

/** A kind whose resources live in an account. */
export interface MemberKind {
  readonly definition: Pick<KindDefinition, 'kind'>
  readonly reach: Reach
}

/** Together they keep the largest legal spec storable. */
const ENTRIES = 64
const DOMAINS = 16
const SELECTOR = { labels: 8, bytes: 512, expressions: 3 }
const LABELS = { count: 4, bytes: 256, value: 255 }

/** `spec.access` of a ClusterAccount, for the kinds that there are. */
export function accessField(members: readonly MemberKind[]) {
  const namesOf = (reach: Reach): readonly string[] =>
    members.filter((member) => member.reach === reach).map(({ definition }) => definition.kind)
  const [first = '', ...others] = members.map(({ definition }) => definition.kind).sort()
  const beyond = namesOf('account').join(', ')
  const kinds = list(choice([first, ...others], { description: 'A kind.' }), {
    description: `Kinds that may be made. Default: every kind but those that reach beyond their namespace: ${beyond}. Whoever may make one of these has a say in the whole account; some of them open it or can close it.`,
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
            'How these resources may use objects of the account that no resource holds. Deny: not at all. Reference: their specs may refer to them by id. Adopt: they may write into them as well: observe and adopt them (`spec.externalID`), make an IPPolicyRule in an IP policy by its id, and send a TunnelSessionCommand to a session that is shown in no namespace; whichever resource is first then owns an object. What a resource of another namespace holds is never reached by its id, under none of these: see `allowedReferences` of its kind. Default: Deny.',
        }),
      ),
      domains: Type.Optional(
        list(
          text({
            description: 'A domain in lower case, or `*.` and a domain for every name below it, however deep.',
            minLength: 1,
            maxLength: DOMAIN_LENGTH,
            pattern: DOMAIN_PATTERN,
          }),
          {
            description: `The only domains that these resources may name: as reserved domains, agent ingresses (with all below), hosts of edges, principals of host certificates, and in \`acl\` of credentials, which must then have one. At most ${DOMAINS}; an empty list allows none. Default: any.`,
            maxItems: DOMAINS,
            listType: 'set',
          },
        ),
      ),
      labels: Type.Optional(
        stringMap(text({ description: 'Value of the label.', minLength: 1, maxLength: LABELS.value }), {
          description: `Labels of tunnels, at most ${LABELS.count}. Backends that are tunnel groups have to name each of them with its value, beside others; \`acl\` of credentials, which must then have one, may bind these labels to these values only. Default: any labels.`,
          minProperties: 1,
          maxProperties: LABELS.count,
          rules: [mapLimit(LABELS.bytes, 6, 'labels')],
        }),
      ),
      requestsPerMinute: Type.Optional(
        integer({
          description:
            "Most requests per minute, on average, that Culvert sends for these resources of each of the namespaces. A list counts for the resource that needed it first. What exceeds it waits, and keeps no other namespace waiting; what was begun is not broken off, and is made up for later. Default: no limit beside the account's.",
          minimum: 1,
          maximum: 60_000,
        }),
      ),
    },
    { description: 'Namespaces, and what their resources may do in the account.' },
  )
  return list(entry, {
    description: `Who may use the account, and for what; at most ${ENTRIES} entries. They add up: a resource is allowed where one entry that selects its namespace allows all of it. What is not allowed, or no longer, is left at the API as it is. Default: nobody.`,
    maxItems: ENTRIES,
  })
}
