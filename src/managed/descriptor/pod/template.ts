import { type Static, Type } from 'typebox'
import { bool, choice, integer, list, object, stringMap, text } from '../../../schema/define.ts'
import { exactlyOne, keysLimit, type Rule } from '../../../schema/rules.ts'
import { GROUP } from '../../names.ts'
import { objectName } from '../common.ts'
import { LABEL_KEY_LENGTH, labelText } from '../label-text.ts'
import { AGENT, container, KEY_VOLUME, LABEL_NAME, quantity } from './container.ts'
import { schedulingFields } from './scheduling.ts'

/**
 * `spec.template` of a Tunnel: what may be added to the Pods of agents, and no more
 * (docs/decisions/0045-templates-of-agents.md). What is fixed has no field: rights, access to the host, Secrets, and
 * security contexts.
 */

const ENTRIES = 16
const CONTAINERS = 3
const VOLUMES = 8

const metadataRules = (field: 'labels' | 'annotations'): readonly Rule[] => [
  keysLimit(LABEL_KEY_LENGTH, field),
  {
    rule: `!self.exists(key, key.startsWith('${GROUP}/') || key.contains('.${GROUP}/'))`,
    message: `${field} has a key under ${GROUP}, which is Culvert's own: choose another prefix`,
    reason: 'FieldValueForbidden',
  },
]

/** By annotations of this prefix, versions of Kubernetes before 1.30 weaken the confinement of a container. */
const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/'

const metadata = object(
  {
    labels: Type.Optional(
      stringMap(labelText, {
        description: `Labels, at most ${ENTRIES}.`,
        maxProperties: ENTRIES,
        rules: metadataRules('labels'),
      }),
    ),
    annotations: Type.Optional(
      stringMap(text({ description: 'Value of the annotation.', maxLength: 1024 }), {
        description: `Annotations, at most ${ENTRIES}.`,
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
  },
  { description: 'Labels and annotations of the Pods, beside those that Culvert writes.' },
)

const configMap = object(
  {
    name: objectName('Name of the ConfigMap in the same namespace.'),
    items: Type.Optional(
      list(
        object(
          {
            key: text({
              description: 'Key in the ConfigMap.',
              minLength: 1,
              maxLength: 253,
              pattern: '^[-._a-zA-Z0-9]+$',
            }),
            path: text({ description: 'Name of the file.', minLength: 1, maxLength: 253, pattern: '^[!-.0-~][!-~]*$' }),
          },
          { description: 'A key, and its file.' },
        ),
        { description: `The keys that become files, at most ${ENTRIES}. Default: all.`, maxItems: ENTRIES },
      ),
    ),
    optional: Type.Optional(bool({ description: 'Whether it may be missing. Default: false.' })),
  },
  { description: 'Files from a ConfigMap.' },
)

const emptyDir = object(
  {
    medium: Type.Optional(
      choice(['Memory'], { description: 'Where the files are. Default: on the disk of the node.' }),
    ),
    sizeLimit: Type.Optional(
      quantity('How large it may become, such as `64Mi`. Default: as large as the node permits.'),
    ),
  },
  { description: 'An empty folder, which is gone with the Pod.' },
)

const volume = object(
  {
    name: text({
      description: `Name of the volume. \`${KEY_VOLUME}\` is that of the key or token.`,
      ...LABEL_NAME,
      minLength: 1,
      rules: [
        {
          rule: `self != '${KEY_VOLUME}'`,
          message: `name is that of the volume ${KEY_VOLUME}, which is Culvert's own: choose another name`,
          reason: 'FieldValueForbidden',
        },
      ],
    }),
    configMap: Type.Optional(configMap),
    emptyDir: Type.Optional(emptyDir),
  },
  {
    description: 'A volume. Secrets, folders of the host and tokens are refused.',
    rules: [exactlyOne(['configMap', 'emptyDir'])],
  },
)

const id = (description: string) => Type.Optional(integer({ description, minimum: 1, maximum: 2_147_483_647 }))

/** Shortest time in which agents can drain, and the longest that a former key waits for them, in seconds. */
const GRACE = { least: 20, most: 3600 }

const podSpec = object(
  {
    ...schedulingFields,
    priorityClassName: Type.Optional(
      text({ description: 'Name of a PriorityClass.', minLength: 1, maxLength: 253, pattern: '^[-.a-z0-9]+$' }),
    ),
    imagePullSecrets: Type.Optional(
      list(object({ name: objectName('Name of the Secret.') }, { description: 'A Secret of a registry.' }), {
        description: 'Secrets with which the node pulls images, at most 8. Containers do not see them.',
        maxItems: 8,
        listType: 'map',
        mapKeys: ['name'],
      }),
    ),
    terminationGracePeriodSeconds: Type.Optional(
      integer({
        description: `How long an agent that is replaced may take to end, in seconds, ${GRACE.least} to ${GRACE.most}. Open connections may go on for 15 s less, and the former key is kept for 15 s longer. Default: 45.`,
        minimum: GRACE.least,
        maximum: GRACE.most,
      }),
    ),
    securityContext: Type.Optional(
      object(
        {
          runAsUser: id('User of all containers, from 1. Default: 65532.'),
          runAsGroup: id('Group of all containers, from 1. Default: 65532.'),
          fsGroup: id('Group that may read the key or token, from 1. Default: 65532.'),
        },
        {
          description: 'User and groups of the containers. All else is fixed: the Pod Security Standard `restricted`.',
        },
      ),
    ),
    containers: Type.Optional(
      list(container, {
        description: `Containers, at most ${CONTAINERS}: changes of the agent's, by its name \`${AGENT}\`, and others beside it.`,
        maxItems: CONTAINERS,
        listType: 'map',
        mapKeys: ['name'],
      }),
    ),
    volumes: Type.Optional(
      list(volume, {
        description: `Volumes for the containers of the template, at most ${VOLUMES}.`,
        maxItems: VOLUMES,
        listType: 'map',
        mapKeys: ['name'],
      }),
    ),
  },
  {
    description: 'What differs from the Pods that Culvert writes.',
    rules: [
      {
        rule: '!has(self.containers) || self.containers.all(each, !has(each.volumeMounts) || each.volumeMounts.all(mount, has(self.volumes) && self.volumes.exists(volume, volume.name == mount.name)))',
        message: 'volumeMounts of containers names a volume that is not in volumes: add it there, or correct the name',
      },
    ],
  },
)

export const podTemplate = object(
  { metadata: Type.Optional(metadata), spec: Type.Optional(podSpec) },
  {
    description:
      'Changes of the Pods of agents, as in `spec.template` of a Deployment: maps are merged by key, and lists of what has a name by that name. What is fixed has no field: ServiceAccount, tokens, access to the host, Secrets and security contexts. The administrator permits it (`tunnels.templates.enabled` of the chart), and its author may have to be allowed to create Deployments. Default: none.',
  },
)

export type TunnelTemplate = Static<typeof podTemplate>
