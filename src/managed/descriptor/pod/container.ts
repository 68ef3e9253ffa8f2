import { Type } from 'typebox'
import { bool, integer, list, object, text } from '../../../schema/define.ts'
import { atMostOne, exactlyOne } from '../../../schema/rules.ts'
import { objectName } from '../common.ts'

/** The container fields in `spec.agent`: those of Kubernetes, under the same names, except those that Culvert sets. */

/** Name of the container that runs the agent. */
export const AGENT = 'agent'
/** Name of the volume with the key or token. */
export const KEY_VOLUME = 'key'
/** Where Culvert mounts its files. */
export const OWN_FOLDER = '/etc/culvert'
/** Prefix of the environment variables that Culvert sets. */
export const OWN_VARIABLES = 'CULVERT_'

const ARGUMENTS = 32
const ARGUMENT = 256
const VARIABLES = 32
const VALUE = 512

export const image = text({
  description:
    'Container image name. The administrator lists the permitted images (`tunnels.templates.images` in the chart).',
  minLength: 1,
  maxLength: 512,
  mustBe: 'printable ASCII characters without spaces',
  pattern: '^[!-~]*$',
})

const argumentList = (description: string, most: number) =>
  Type.Optional(
    list(text({ description: 'One argument.', maxLength: ARGUMENT }), {
      description: `${description} At most ${most} entries.`,
      maxItems: most,
    }),
  )

/** The command of a container with another image. */
export const commandFields = {
  command: argumentList("Entrypoint array, not executed within a shell. Default: the image's ENTRYPOINT.", 8),
  args: argumentList(
    'Arguments to the entrypoint. References `$(NAME)` to variables of `env` are expanded.',
    ARGUMENTS,
  ),
}

const valueFrom = object(
  {
    configMapKeyRef: Type.Optional(
      object(
        {
          name: objectName('Name of the ConfigMap in the same namespace.'),
          key: text({
            description: 'The key to select.',
            minLength: 1,
            maxLength: 253,
            mustBe: 'a key of letters, digits, -, _ and .',
            pattern: '^[-._a-zA-Z0-9]+$',
          }),
          optional: Type.Optional(
            bool({ description: 'Whether the ConfigMap or its key may be absent. Default: false.' }),
          ),
        },
        { description: 'Selects a key of a ConfigMap.' },
      ),
    ),
    fieldRef: Type.Optional(
      object(
        {
          fieldPath: text({
            description: 'Path of the field, such as `status.podIP`.',
            minLength: 1,
            maxLength: 253,
            mustBe: 'printable ASCII characters without spaces',
            pattern: '^[!-~]*$',
          }),
        },
        { description: 'Selects a field of the Pod.' },
      ),
    ),
  },
  {
    description: 'Source of the value. Secrets are not accepted.',
    rules: [exactlyOne(['configMapKeyRef', 'fieldRef'])],
  },
)

const variable = object(
  {
    name: text({
      description: `Name of the environment variable. The prefix ${OWN_VARIABLES} is reserved for Culvert.`,
      minLength: 1,
      maxLength: 128,
      mustBe: 'the name of a variable: letters, digits, -, _ and ., not beginning with a digit',
      pattern: '^[-._a-zA-Z][-._a-zA-Z0-9]*$',
      rules: [
        {
          rule: `!self.startsWith('${OWN_VARIABLES}')`,
          message: `the prefix ${OWN_VARIABLES} is reserved for Culvert: choose another name`,
          reason: 'FieldValueForbidden',
        },
      ],
    }),
    value: Type.Optional(
      text({ description: `Value, at most ${VALUE} characters. Default: empty.`, maxLength: VALUE }),
    ),
    valueFrom: Type.Optional(valueFrom),
  },
  { description: 'An environment variable.', rules: [atMostOne(['value', 'valueFrom'])] },
)

export const env = Type.Optional(
  list(variable, {
    description: `Environment variables of the container, at most ${VARIABLES}.`,
    maxItems: VARIABLES,
    listType: 'map',
    mapKeys: ['name'],
  }),
)

const second = (description: string, least: number, most: number) =>
  Type.Optional(integer({ description, minimum: least, maximum: most }))
const port = integer({ description: 'Port to access on the container, 1 to 65535.', minimum: 1, maximum: 65_535 })

/** A probe of a container with another image. */
export const probe = (description: string) =>
  Type.Optional(
    object(
      {
        httpGet: Type.Optional(
          object(
            {
              path: text({
                description: 'Path to access on the HTTP server.',
                minLength: 1,
                maxLength: 253,
                mustBe: 'a path that begins with /, of printable ASCII characters without spaces',
                pattern: '^/[!-~]*$',
              }),
              port,
            },
            { description: 'An HTTP GET request, which must return a success status code.' },
          ),
        ),
        tcpSocket: Type.Optional(
          object({ port }, { description: 'A connection to a TCP port, which must be accepted.' }),
        ),
        periodSeconds: second('Interval between probes in seconds, 1 to 3600. Default: 10.', 1, 3600),
        timeoutSeconds: second('Seconds after which the probe times out, 1 to 3600. Default: 1.', 1, 3600),
        failureThreshold: second(
          'Consecutive failures after which the probe has failed, 1 to 100. Default: 3.',
          1,
          100,
        ),
      },
      { description, rules: [exactlyOne(['httpGet', 'tcpSocket'])] },
    ),
  )
