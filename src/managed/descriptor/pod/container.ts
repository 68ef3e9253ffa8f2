import { Type } from 'typebox'
import { bool, integer, list, object, stringMap, text } from '../../../schema/define.ts'
import { atMostOne, exactlyOne, keysLimit, type Rule } from '../../../schema/rules.ts'
import { objectName } from '../common.ts'

/** What a container of an agent's Pod may be: fields of Kubernetes with these names, without those that are fixed. */

/** Name of the container that runs the agent. */
export const AGENT = 'agent'
/** Name of the volume with the key or token, which no template can mount. */
export const KEY_VOLUME = 'key'
/** Where Culvert mounts its files. */
export const OWN_FOLDER = '/etc/culvert'
/** Names of variables that Culvert sets begin with this. */
export const OWN_VARIABLES = 'CULVERT_'
/** A DNS label of Kubernetes. */
export const LABEL_NAME = { maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }

const ARGUMENTS = 32
const ARGUMENT = 256
const VARIABLES = 32
const VALUE = 512
const QUANTITY = '^[0-9]{1,15}(\\.[0-9]{1,3})?(m|k|Ki|M|Mi|G|Gi|T|Ti)?$'

/** A number with a unit, such as `500m` or `64Mi`. */
export const quantity = (description: string) => text({ description, minLength: 1, maxLength: 21, pattern: QUANTITY })

export const image = text({
  description:
    'Image of the container. The administrator lists the permitted ones (`tunnels.templates.images` of the chart).',
  minLength: 1,
  maxLength: 512,
  pattern: '^[!-~]*$',
})

const words = (description: string, most: number) =>
  Type.Optional(
    list(text({ description: 'One word.', maxLength: ARGUMENT }), {
      description: `${description} At most ${most} words.`,
      maxItems: most,
    }),
  )

/** What runs in a container of another image. */
export const commandFields = {
  command: words('What is run, in place of the entrypoint of the image.', 8),
  args: words('Arguments. `$(NAME)` stands for a variable of `env`.', ARGUMENTS),
}

const valueFrom = object(
  {
    configMapKeyRef: Type.Optional(
      object(
        {
          name: objectName('Name of the ConfigMap in the same namespace.'),
          key: text({ description: 'Key in it.', minLength: 1, maxLength: 253, pattern: '^[-._a-zA-Z0-9]+$' }),
          optional: Type.Optional(bool({ description: 'Whether it may be missing. Default: false.' })),
        },
        { description: 'A value from a ConfigMap.' },
      ),
    ),
    fieldRef: Type.Optional(
      object(
        {
          fieldPath: text({
            description: 'A field of the Pod, such as `status.podIP`.',
            minLength: 1,
            maxLength: 253,
            pattern: '^[!-~]*$',
          }),
        },
        { description: 'A field of the Pod.' },
      ),
    ),
  },
  {
    description: 'Where the value comes from. Secrets are refused.',
    rules: [exactlyOne(['configMapKeyRef', 'fieldRef'])],
  },
)

const variable = object(
  {
    name: text({
      description: `Name of the variable. Those that begin with ${OWN_VARIABLES} are set by Culvert.`,
      minLength: 1,
      maxLength: 128,
      pattern: '^[-._a-zA-Z][-._a-zA-Z0-9]*$',
      rules: [
        {
          rule: `!self.startsWith('${OWN_VARIABLES}')`,
          message: `name begins with ${OWN_VARIABLES}, which is Culvert's own: choose another name`,
          reason: 'FieldValueForbidden',
        },
      ],
    }),
    value: Type.Optional(
      text({ description: `Its value, of at most ${VALUE} characters. Default: empty.`, maxLength: VALUE }),
    ),
    valueFrom: Type.Optional(valueFrom),
  },
  { description: 'A variable of the environment.', rules: [atMostOne(['value', 'valueFrom'])] },
)

export const env = Type.Optional(
  list(variable, {
    description: `Variables of the environment, at most ${VARIABLES}.`,
    maxItems: VARIABLES,
    listType: 'map',
    mapKeys: ['name'],
  }),
)

const amounts = (field: 'requests' | 'limits', description: string) =>
  Type.Optional(
    stringMap(quantity('A quantity of Kubernetes, such as `500m` or `64Mi`, as text.'), {
      description,
      maxProperties: 8,
      rules: [keysLimit(253, field)],
    }),
  )

const resources = Type.Optional(
  object(
    {
      requests: amounts('requests', 'What is reserved for the container, by resource.'),
      limits: amounts('limits', 'What the container may use, by resource.'),
    },
    { description: 'Compute resources of the container.' },
  ),
)

const volumeMount = object(
  {
    name: text({
      description: 'Name of a volume of the template.',
      ...LABEL_NAME,
      minLength: 1,
      rules: [
        {
          rule: `self != '${KEY_VOLUME}'`,
          message: `name is that of the volume ${KEY_VOLUME}, which only the agent mounts: name a volume of the template`,
          reason: 'FieldValueForbidden',
        },
      ],
    }),
    mountPath: text({
      description: `Where it is mounted; not at or below ${OWN_FOLDER}.`,
      minLength: 1,
      maxLength: 253,
      pattern: '^/[!-9;-~]*$',
      rules: [
        {
          rule: `self != '${OWN_FOLDER}' && !self.startsWith('${OWN_FOLDER}/')`,
          message: `mountPath is in ${OWN_FOLDER}, where Culvert mounts its files: choose another folder`,
          reason: 'FieldValueForbidden',
        },
      ],
    }),
    subPath: Type.Optional(
      text({
        description: 'The part of the volume that is mounted. Default: all of it.',
        minLength: 1,
        maxLength: 253,
        pattern: '^[!-.0-~][!-~]*$',
      }),
    ),
    readOnly: Type.Optional(bool({ description: 'Whether the container may not write there. Default: false.' })),
  },
  { description: 'A volume that the container mounts.' },
)

/** What an agent's own container, like any other, may have beside what Culvert writes. */
const beside = {
  env,
  resources,
  volumeMounts: Type.Optional(
    list(volumeMount, {
      description: 'Volumes that the container mounts, at most 8.',
      maxItems: 8,
      listType: 'map',
      mapKeys: ['mountPath'],
    }),
  ),
}

const containerRules: readonly Rule[] = [
  {
    rule: `self.name != '${AGENT}' || (!has(self.image) && !has(self.command) && !has(self.args))`,
    message: `image, command and args of the container ${AGENT} are fixed: remove them, or set spec.agent for another agent`,
    reason: 'FieldValueForbidden',
  },
  {
    rule: `self.name == '${AGENT}' || has(self.image)`,
    message: `image is required for a container beside the ${AGENT}: set it`,
    reason: 'FieldValueRequired',
  },
]

/** A container of the template. Its securityContext is fixed: that of the Pod Security Standard `restricted`. */
export const container = object(
  {
    name: text({
      description: `Name of the container. \`${AGENT}\` is that of the agent, of which only env, resources and volumeMounts may be set; with any other name it runs beside the agent.`,
      ...LABEL_NAME,
      minLength: 1,
    }),
    image: Type.Optional(image),
    ...commandFields,
    ...beside,
  },
  { description: 'A container.', rules: containerRules },
)

const second = (description: string, least: number, most: number) =>
  Type.Optional(integer({ description, minimum: least, maximum: most }))
const port = integer({ description: 'Port of the container, 1 to 65535.', minimum: 1, maximum: 65_535 })

/** A probe of a container that is not Culvert's. */
export const probe = (description: string) =>
  Type.Optional(
    object(
      {
        httpGet: Type.Optional(
          object(
            {
              path: text({ description: 'Path of the request.', minLength: 1, maxLength: 253, pattern: '^/[!-~]*$' }),
              port,
            },
            { description: 'An HTTP request that is answered with success.' },
          ),
        ),
        tcpSocket: Type.Optional(object({ port }, { description: 'A connection that is accepted.' })),
        periodSeconds: second('How often it is made, 1 to 3600. Default: 10.', 1, 3600),
        timeoutSeconds: second('How long it may take, 1 to 3600. Default: 1.', 1, 3600),
        failureThreshold: second('How many failures in a row count, 1 to 100. Default: 3.', 1, 100),
      },
      { description, rules: [exactlyOne(['httpGet', 'tcpSocket'])] },
    ),
  )
