import { Type } from 'typebox'
import type { OutputTarget, OutputTemplate } from '../managed/types/descriptor.ts'
import { object, text } from '../schema/define.ts'
import { exactlyOne } from '../schema/rules.ts'
import { outputMetadata, outputMetadataProblems } from './output-metadata.ts'

/** Where the token goes that the API tells only in the answer to the create. `key` is the default. */
export function tokenPlace(key: string) {
  const secret = object(
    {
      name: Type.Optional(objectName('Secret', ' Default: the name of this resource.')),
      key: Type.Optional(
        text({
          description: `Key in the Secret. Default: ${key}.`,
          minLength: 1,
          maxLength: 253,
          pattern: '^[-._a-zA-Z0-9]+$',
        }),
      ),
      ...outputMetadata,
    },
    { description: 'The Secret that the token is written to.' },
  )
  return Type.Optional(
    object(
      { secret },
      {
        description:
          'Where the token is written. Default: a Secret with the name of this resource, under the default key.',
        ...WHOLE,
      },
    ),
  )
}

/** Where public texts go, if they are asked for. `what` finishes "The ConfigMap that …". */
export function configMapPlace(what: string) {
  return Type.Optional(
    object(
      { configMap: textsObject('ConfigMap', what) },
      { description: `Where the texts of this resource are written. ${NONE}`, ...WHOLE },
    ),
  )
}

/** The same, into a Secret or a ConfigMap. */
export function secretOrConfigMapPlace(what: string) {
  return Type.Optional(
    object(
      {
        secret: Type.Optional(textsObject('Secret', what)),
        configMap: Type.Optional(textsObject('ConfigMap', what)),
      },
      {
        description: `Where the texts of this resource are written: exactly one of secret and configMap. ${NONE}`,
        rules: [exactlyOne(['secret', 'configMap'])],
        ...WHOLE,
      },
    ),
  )
}

const NONE = 'Default: nowhere.'
/** To server-side apply, which cannot take one object out and put another in its place: it would make null of the first. */
const WHOLE = { atomic: true } as const

function textsObject(kind: OutputTarget['kind'], what: string) {
  return object({ name: objectName(kind), ...outputMetadata }, { description: `The ${kind} that ${what}.` })
}

function objectName(kind: OutputTarget['kind'], absent = '') {
  return text({
    description: `Name of the ${kind}. Culvert creates it, owns it, and deletes it with this resource; an existing one is refused.${absent}`,
    minLength: 1,
    maxLength: 253,
    pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
  })
}

/** What a spec with any of these may say. */
export interface WithOutput {
  readonly output?: {
    readonly secret?: Partial<OutputTemplate> & { readonly name?: string; readonly key?: string }
    readonly configMap?: Partial<OutputTemplate> & { readonly name: string }
  }
}

/** The object that derived texts go into. */
export function placeOf({ output: { secret, configMap } = {} }: WithOutput): OutputTarget | undefined {
  if (secret?.name !== undefined) return { kind: 'Secret', name: secret.name }
  return configMap === undefined ? undefined : { kind: 'ConfigMap', name: configMap.name }
}

export function templateOf({ output: { secret, configMap } = {} }: WithOutput): OutputTemplate {
  const { labels = {}, annotations = {} } = secret ?? configMap ?? {}
  return { labels, annotations }
}

/** Problems of the output that CEL cannot see. */
export function outputProblems({ output: { secret, configMap } = {} }: WithOutput): readonly string[] {
  return [
    ...outputMetadataProblems('spec.output.secret', secret ?? {}),
    ...outputMetadataProblems('spec.output.configMap', configMap ?? {}),
  ]
}
