import { Type } from 'typebox'
import { bool, integer, list, object, text } from '../../../schema/define.ts'
import { atMostOne, exactlyOne } from '../../../schema/rules.ts'
import { objectName } from '../common.ts'

/** What `spec.agent` says of its container: fields of Kubernetes with these names, without those that are fixed. */

/** Name of the container that runs the agent. */
export const AGENT = 'agent'
/** Name of the volume with the key or token. */
export const KEY_VOLUME = 'key'
/** Where Culvert mounts its files. */
export const OWN_FOLDER = '/etc/culvert'
/** Names of variables that Culvert sets begin with this. */
export const OWN_VARIABLES = 'CULVERT_'

const ARGUMENTS = 32
const ARGUMENT = 256
const VARIABLES = 32
const VALUE = 512

export const image = text({
  description:
    'Image of the container. The administrator lists the permitted ones (`tunnels.templates.images` of the chart).',
  minLength: 1,
  maxLength: 512,
  mustBe: 'printable ASCII characters without spaces',
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
          key: text({
            description: 'Key in it.',
            minLength: 1,
            maxLength: 253,
            mustBe: 'a key of letters, digits, -, _ and .',
            pattern: '^[-._a-zA-Z0-9]+$',
          }),
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
            mustBe: 'printable ASCII characters without spaces',
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
      mustBe: 'the name of a variable: letters, digits, -, _ and ., not beginning with a digit',
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
              path: text({
                description: 'Path of the request.',
                minLength: 1,
                maxLength: 253,
                mustBe: 'a path that begins with /, of printable ASCII characters without spaces',
                pattern: '^/[!-~]*$',
              }),
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
