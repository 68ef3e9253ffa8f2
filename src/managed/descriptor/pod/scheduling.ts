import { Type } from 'typebox'
import { choice, integer, list, object, stringMap, text } from '../../../schema/define.ts'
import { keysLimit } from '../../../schema/rules.ts'
import { labelSelector } from '../label-selector.ts'
import { LABEL_KEY_LENGTH } from '../label-text.ts'
import { namespaceName } from '../namespace-name.ts'

/** Which nodes agents run on: the fields of a Pod spec with these names, as Kubernetes has them. */

const LABEL_VALUE = 63
const ENTRIES = 16
const TERMS = 4
const REQUIREMENTS = 6
const SELECTOR = { labels: 8, bytes: 512, expressions: 4 }

const labelKey = (description: string) =>
  text({ description, minLength: 1, maxLength: LABEL_KEY_LENGTH, pattern: '^[-A-Za-z0-9._/]*$' })
const labelValue = (description: string) => text({ description, maxLength: LABEL_VALUE, pattern: '^[-A-Za-z0-9._]*$' })
const topologyKey = labelKey('Label of nodes whose values are the places, such as `topology.kubernetes.io/zone`.')
const weight = integer({ description: 'How much it counts, 1 to 100.', minimum: 1, maximum: 100 })

const nodeRequirement = object(
  {
    key: labelKey('Label of the node.'),
    operator: choice(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'], {
      description: 'How it is compared with the values.',
    }),
    values: Type.Optional(
      list(labelValue('A value.'), {
        description: `Values for In and NotIn, at most ${ENTRIES}; one whole number for Gt and Lt.`,
        maxItems: ENTRIES,
      }),
    ),
  },
  { description: 'A requirement that the node must meet.' },
)

const nodeTerm = (description: string) =>
  object(
    {
      matchExpressions: list(nodeRequirement, {
        description: `Requirements by the labels of the node, at most ${REQUIREMENTS}.`,
        minItems: 1,
        maxItems: REQUIREMENTS,
      }),
    },
    { description },
  )

const nodeAffinity = object(
  {
    requiredDuringSchedulingIgnoredDuringExecution: Type.Optional(
      object(
        {
          nodeSelectorTerms: list(nodeTerm('All its requirements must be met.'), {
            description: `Of these, at most ${TERMS}, one must be met.`,
            minItems: 1,
            maxItems: TERMS,
          }),
        },
        { description: 'What a node must be.' },
      ),
    ),
    preferredDuringSchedulingIgnoredDuringExecution: Type.Optional(
      list(object({ weight, preference: nodeTerm('What the node should be.') }, { description: 'One preference.' }), {
        description: `What a node should be, at most ${TERMS} preferences.`,
        maxItems: TERMS,
      }),
    ),
  },
  { description: 'Which nodes agents run on.' },
)

const podTerm = (description: string) =>
  object(
    {
      topologyKey,
      labelSelector: Type.Optional(labelSelector('Which Pods.', SELECTOR)),
      namespaces: Type.Optional(
        list(namespaceName('Name of a namespace.'), {
          description: `Namespaces of these Pods, at most ${TERMS}. Default: that of the Tunnel.`,
          maxItems: TERMS,
        }),
      ),
    },
    { description },
  )

const podAffinity = (description: string) =>
  object(
    {
      requiredDuringSchedulingIgnoredDuringExecution: Type.Optional(
        list(podTerm('Pods, and what counts as the same place.'), {
          description: `What must be so, at most ${TERMS} terms.`,
          maxItems: TERMS,
        }),
      ),
      preferredDuringSchedulingIgnoredDuringExecution: Type.Optional(
        list(
          object(
            { weight, podAffinityTerm: podTerm('Pods, and what counts as the same place.') },
            { description: 'One preference.' },
          ),
          { description: `What should be so, at most ${TERMS} preferences.`, maxItems: TERMS },
        ),
      ),
    },
    { description },
  )

const toleration = object(
  {
    key: Type.Optional(labelKey('Key of the taint. Default: any, with the operator Exists.')),
    operator: Type.Optional(
      choice(['Exists', 'Equal'], { description: 'Whether the value counts. Default: Equal, it does.' }),
    ),
    value: Type.Optional(labelValue('Value of the taint.')),
    effect: Type.Optional(
      choice(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], { description: 'Effect of the taint. Default: any.' }),
    ),
    tolerationSeconds: Type.Optional(
      integer({
        description: 'How long NoExecute is tolerated, in seconds. Default: for good.',
        minimum: 0,
        maximum: 2_147_483_647,
      }),
    ),
  },
  { description: 'A taint that agents tolerate.' },
)

const inclusion = (description: string) => Type.Optional(choice(['Honor', 'Ignore'], { description }))

const spreadConstraint = object(
  {
    topologyKey,
    maxSkew: integer({
      description: 'By how many agents two places may differ, 1 to 32.',
      minimum: 1,
      maximum: 32,
    }),
    whenUnsatisfiable: choice(['DoNotSchedule', 'ScheduleAnyway'], {
      description: 'What happens to an agent for which there is no such place.',
    }),
    minDomains: Type.Optional(
      integer({ description: 'Fewest places, 1 to 32; with DoNotSchedule only.', minimum: 1, maximum: 32 }),
    ),
    nodeAffinityPolicy: inclusion('Whether nodes that the affinity excludes count. Default: Honor, they do not.'),
    nodeTaintsPolicy: inclusion(
      'Whether nodes with taints that agents do not tolerate count. Default: Ignore, they do.',
    ),
  },
  { description: 'How evenly agents are spread. It counts the agents of the Tunnel, and no other Pods.' },
)

export const schedulingFields = {
  nodeSelector: Type.Optional(
    stringMap(labelValue('Value of the label.'), {
      description: `Labels that a node must have, at most ${ENTRIES}.`,
      maxProperties: ENTRIES,
      rules: [keysLimit(LABEL_KEY_LENGTH, 'nodeSelector')],
    }),
  ),
  affinity: Type.Optional(
    object(
      {
        nodeAffinity: Type.Optional(nodeAffinity),
        podAffinity: Type.Optional(podAffinity('Beside which Pods agents run.')),
        podAntiAffinity: Type.Optional(podAffinity('Apart from which Pods agents run.')),
      },
      { description: 'Where agents run, by nodes and by other Pods.' },
    ),
  ),
  tolerations: Type.Optional(
    list(toleration, { description: `Taints that agents tolerate, at most ${ENTRIES}.`, maxItems: ENTRIES }),
  ),
  topologySpreadConstraints: Type.Optional(
    list(spreadConstraint, {
      description: `How agents are spread, at most ${TERMS} constraints. One replaces that of Culvert with the same \`topologyKey\`: agents are spread over nodes and zones, as far as possible.`,
      maxItems: TERMS,
      listType: 'map',
      mapKeys: ['topologyKey'],
    }),
  ),
}
