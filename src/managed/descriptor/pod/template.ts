import { type Static, Type } from 'typebox'
import { anyObject, list, object, openObject, stringMap, text } from '../../../schema/define.ts'
import { keysLimit, type Rule } from '../../../schema/rules.ts'
import { GROUP } from '../../names.ts'
import { LABEL_KEY_LENGTH, labelText } from '../text-schemas.ts'

/**
 * `spec.template` of a Tunnel: where its agents run, and with what. The fields are those of a Pod, and the API server
 * validates them (docs/decisions/0047-templates-of-agents-are-kubernetes-own.md). Everything else of the Pods is
 * Culvert's.
 */

const ENTRIES = 16
const CONSTRAINTS = 8

/** By annotations of this prefix, versions of Kubernetes weaken the confinement of a container. */
const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/'

const metadataRules = (field: 'labels' | 'annotations'): readonly Rule[] => [
  keysLimit(LABEL_KEY_LENGTH, field),
  {
    rule: `!self.exists(key, key.startsWith('${GROUP}/') || key.contains('.${GROUP}/'))`,
    message: `${field} has a key under ${GROUP}, which is Culvert's own: choose another prefix`,
    reason: 'FieldValueForbidden',
  },
]

const PERMITTED = 'The administrator lists the permitted keys (`tunnels.templates.metadataKeys` of the chart).'
const VALIDATED = 'The API server validates it, before anything changes.'

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
            message: `annotations has a key under ${APPARMOR}, which would weaken what confines the agent: remove it`,
            reason: 'FieldValueForbidden',
          },
        ],
      }),
    ),
    nodeSelector: Type.Optional(
      stringMap(labelText, {
        description: `Labels that a node must have to run agents, at most ${ENTRIES}.`,
        maxProperties: ENTRIES,
        rules: [keysLimit(LABEL_KEY_LENGTH, 'nodeSelector')],
      }),
    ),
    affinity: Type.Optional(
      anyObject({
        description: `Affinity of Kubernetes: which nodes agents run on, and next to which Pods. ${VALIDATED}`,
      }),
    ),
    tolerations: Type.Optional(
      list(
        openObject(
          {
            key: text({
              description: 'Key of the taint. Required: agents cannot tolerate every taint.',
              minLength: 1,
              maxLength: LABEL_KEY_LENGTH,
            }),
          },
          { description: `Toleration of Kubernetes. ${VALIDATED}` },
        ),
        { description: `Taints that agents tolerate, at most ${ENTRIES}.`, maxItems: ENTRIES },
      ),
    ),
    topologySpreadConstraints: Type.Optional(
      list(anyObject({ description: `TopologySpreadConstraint of Kubernetes. ${VALIDATED}` }), {
        description: `How agents are spread over topology domains, at most ${CONSTRAINTS} constraints. A constraint without labelSelector selects the agents of the Tunnel. Default: over nodes and zones, if possible.`,
        maxItems: CONSTRAINTS,
      }),
    ),
    resources: Type.Optional(
      object(
        {
          requests: Type.Optional(
            anyObject({ description: `What is reserved for each agent, by resource. ${VALIDATED}` }),
          ),
          limits: Type.Optional(anyObject({ description: `What each agent may use, by resource. ${VALIDATED}` })),
        },
        {
          description:
            "Compute resources of the agent's container, instead of Culvert's own: requests of 10m CPU and 64Mi memory, and a limit of 512Mi memory. With `agent`, there are none by default.",
        },
      ),
    ),
    priorityClassName: Type.Optional(
      text({
        description:
          'Name of a PriorityClass. The administrator lists those that begin with `system-` (`tunnels.templates.priorityClasses` of the chart).',
        minLength: 1,
        maxLength: 253,
        mustBe: 'the name of a PriorityClass: lower-case letters, digits, - and .',
        pattern: '^[-.a-z0-9]+$',
      }),
    ),
  },
  {
    description:
      'Where agents run, and with what: fields of a Pod under their names in Kubernetes. The administrator permits it (`tunnels.templates.enabled` of the chart), and its author may have to be allowed to create Deployments. Default: none.',
  },
)

export type TunnelTemplate = Static<typeof podTemplate>
