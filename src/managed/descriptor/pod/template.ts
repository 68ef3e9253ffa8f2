import { type Static, Type } from 'typebox'
import { anyObject, list, object, openObject, stringMap, text } from '../../../schema/define.ts'
import { keysLimit, type Rule } from '../../../schema/rules.ts'
import { GROUP } from '../../names.ts'
import { LABEL_KEY_LENGTH, labelText } from '../text-schemas.ts'

/**
 * `spec.template` of a Tunnel: scheduling, resources and metadata of its agents. The fields are those of a Pod, and the
 * API server validates them (docs/decisions/0047-templates-of-agents-are-kubernetes-own.md). Culvert sets all others.
 */

const ENTRIES = 16
const CONSTRAINTS = 8

/** In some versions of Kubernetes, annotations with this prefix weaken the confinement of a container. */
const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/'

const metadataRules = (field: 'labels' | 'annotations'): readonly Rule[] => [
  keysLimit(LABEL_KEY_LENGTH, field),
  {
    rule: `!self.exists(key, key.startsWith('${GROUP}/') || key.contains('.${GROUP}/'))`,
    message: `${field} has a key under ${GROUP}, which is reserved for Culvert: choose another prefix`,
    reason: 'FieldValueForbidden',
  },
]

const PERMITTED = 'The administrator lists the permitted keys (`tunnels.templates.metadataKeys` in the chart).'
const VALIDATED = 'The API server validates it before anything changes.'

export const podTemplate = object(
  {
    labels: Type.Optional(
      stringMap(labelText, {
        description: `Additional labels of the Pods, at most ${ENTRIES}. ${PERMITTED}`,
        maxProperties: ENTRIES,
        rules: metadataRules('labels'),
      }),
    ),
    annotations: Type.Optional(
      stringMap(text({ description: 'Value of the annotation.', maxLength: 1024 }), {
        description: `Additional annotations of the Pods, at most ${ENTRIES}. ${PERMITTED}`,
        maxProperties: ENTRIES,
        rules: [
          ...metadataRules('annotations'),
          {
            rule: `!self.exists(key, key.startsWith('${APPARMOR}'))`,
            message: `annotations has a key under ${APPARMOR}, which would weaken the confinement of the agent: remove it`,
            reason: 'FieldValueForbidden',
          },
        ],
      }),
    ),
    nodeSelector: Type.Optional(
      stringMap(labelText, {
        description: `Labels that a node must have for agents to be scheduled on it, at most ${ENTRIES}.`,
        maxProperties: ENTRIES,
        rules: [keysLimit(LABEL_KEY_LENGTH, 'nodeSelector')],
      }),
    ),
    affinity: Type.Optional(
      anyObject({
        description: `Scheduling constraints of the agents: node affinity, inter-pod affinity and anti-affinity, as in a Pod. ${VALIDATED}`,
      }),
    ),
    tolerations: Type.Optional(
      list(
        openObject(
          {
            key: text({
              description:
                'Taint key that the toleration applies to. Required, since agents must not tolerate all taints.',
              minLength: 1,
              maxLength: LABEL_KEY_LENGTH,
            }),
          },
          { description: `A toleration, as in a Pod. ${VALIDATED}` },
        ),
        { description: `Tolerations of the agents, at most ${ENTRIES}.`, maxItems: ENTRIES },
      ),
    ),
    topologySpreadConstraints: Type.Optional(
      list(anyObject({ description: `A topology spread constraint, as in a Pod. ${VALIDATED}` }), {
        description: `How agents are spread across topology domains, at most ${CONSTRAINTS} constraints. A constraint without labelSelector counts the agents of the Tunnel. Default: across nodes and zones, if possible.`,
        maxItems: CONSTRAINTS,
      }),
    ),
    resources: Type.Optional(
      object(
        {
          requests: Type.Optional(
            anyObject({ description: `Minimum amount of compute resources required by each agent. ${VALIDATED}` }),
          ),
          limits: Type.Optional(
            anyObject({ description: `Maximum amount of compute resources allowed for each agent. ${VALIDATED}` }),
          ),
        },
        {
          description:
            'Compute resources of the agent container. Default: requests of 10m CPU and 64Mi memory, and a limit of 512Mi memory; none with `agent`.',
        },
      ),
    ),
    priorityClassName: Type.Optional(
      text({
        description:
          'Name of the PriorityClass of the agents. The administrator lists the permitted classes that begin with `system-` (`tunnels.templates.priorityClasses` in the chart).',
        minLength: 1,
        maxLength: 253,
        mustBe: 'the name of a PriorityClass: lower-case letters, digits, - and .',
        pattern: '^[-.a-z0-9]+$',
      }),
    ),
  },
  {
    description:
      'Metadata, scheduling and resources of the agent Pods. The fields have the names and values of a Pod. The administrator must enable this (`tunnels.templates.enabled` in the chart); an admission policy may require the right to create Deployments. Default: none.',
  },
)

export type TunnelTemplate = Static<typeof podTemplate>
