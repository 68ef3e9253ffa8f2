import { Type } from 'typebox'
import { dataKey, objectName } from '../../managed/descriptor/common.ts'
import { keyProblems } from '../../managed/descriptor/metadata.ts'
import type { OutputTarget, OutputTemplate } from '../../managed/descriptor/output.ts'
import { LABEL_KEY_LENGTH, labelText } from '../../managed/descriptor/text-schemas.ts'
import { GROUP, INTERNAL, MANAGED_BY } from '../../managed/names.ts'
import { object, stringMap, text } from '../../schema/define.ts'
import { exactlyOne, keysLimit, type Rule } from '../../schema/rules.ts'

/** Where to write the token, which the API returns only in the response to the create. `key` is the default. */
export function tokenPlace(key: string) {
  const secret = object(
    {
      name: Type.Optional(outputName('Secret', ' Default: the name of this resource.')),
      key: Type.Optional(dataKey(`Key in the Secret. Default: ${key}.`)),
      ...outputMetadata,
    },
    { description: 'The Secret that the token is written to.' },
  )
  return Type.Optional(
    object(
      { secret },
      {
        description:
          'Where the token is written. Default: a Secret with the name of this resource, under the default key. The token of an adopted object is unknown, so nothing is written until a new one is issued.',
        ...WHOLE,
      },
    ),
  )
}

/** What an object's output consists of. */
interface Texts {
  /** Its name, such as `certificate`. */
  readonly subject: string
  /** Describes the keys of the Secret or ConfigMap. */
  readonly keys: string
}

/** Where to write public texts, if at all. */
export function configMapPlace(texts: Texts) {
  return Type.Optional(
    object(
      { configMap: textsObject('ConfigMap', texts) },
      { description: `Where the ${texts.subject} is written. ${NONE}`, ...WHOLE },
    ),
  )
}

/** The same, into a Secret or a ConfigMap. */
export function secretOrConfigMapPlace(texts: Texts) {
  return Type.Optional(
    object(
      {
        secret: Type.Optional(textsObject('Secret', texts)),
        configMap: Type.Optional(textsObject('ConfigMap', texts)),
      },
      {
        description: `Where the ${texts.subject} is written: exactly one of secret and configMap. ${NONE}`,
        rules: [exactlyOne(['secret', 'configMap'])],
        ...WHOLE,
      },
    ),
  )
}

const NONE = 'Default: nowhere.'
/** Atomic to server-side apply, which cannot replace one member object with another: it would set the first to null. */
const WHOLE = { atomic: true } as const

function textsObject(kind: OutputTarget['kind'], { subject, keys }: Texts) {
  return object(
    { name: outputName(kind), ...outputMetadata },
    { description: `The ${kind} that the ${subject} is written to. ${keys}` },
  )
}

function outputName(kind: OutputTarget['kind'], absent = '') {
  return objectName(
    `Name of the ${kind}. Culvert creates and owns it; one that already exists is refused. It is deleted when another name is set here, and with this resource unless the remote object stays (see \`deletionPolicy\`).${absent}`,
  )
}

/** The outputs that a spec may have. */
export interface WithOutput {
  readonly output?: {
    readonly secret?: Partial<OutputTemplate> & { readonly name?: string; readonly key?: string }
    readonly configMap?: Partial<OutputTemplate> & { readonly name: string }
  }
}

/** The object that derived texts are written to. */
export function placeOf({ output: { secret, configMap } = {} }: WithOutput): OutputTarget | undefined {
  if (secret?.name !== undefined) return { kind: 'Secret', name: secret.name }
  return configMap === undefined ? undefined : { kind: 'ConfigMap', name: configMap.name }
}

export function templateOf({ output: { secret, configMap } = {} }: WithOutput): OutputTemplate {
  const { labels = {}, annotations = {} } = secret ?? configMap ?? {}
  return { labels, annotations }
}

/** Problems of the output that CEL cannot detect. */
export function outputProblems({ output: { secret, configMap } = {} }: WithOutput): readonly string[] {
  return [
    ...outputMetadataProblems('spec.output.secret', secret ?? {}),
    ...outputMetadataProblems('spec.output.configMap', configMap ?? {}),
  ]
}

/** Several times as many of each as reflectors and reloaders use. */
const ENTRIES = 16

type Field = 'labels' | 'annotations'

/** Spec fields for labels and annotations of the object that outputs are written to. */
const outputMetadata = {
  labels: Type.Optional(
    stringMap(labelText, {
      description:
        'Labels of the Secret or ConfigMap, at most 16. A label removed here is removed there; labels set by others are left alone. Default: only those that Culvert sets.',
      maxProperties: ENTRIES,
      rules: [
        ...keyRules('labels'),
        {
          rule: `!('${MANAGED_BY}' in self)`,
          message: `labels has ${MANAGED_BY}, which Culvert sets: remove it`,
        },
      ],
    }),
  ),
  annotations: Type.Optional(
    stringMap(text({ description: 'Value of the annotation.', maxLength: 2048 }), {
      description:
        'Annotations of the Secret or ConfigMap, at most 16, such as those of a reflector or a reloader. An annotation removed here is removed there; annotations set by others are left alone. Default: only those that Culvert sets.',
      maxProperties: ENTRIES,
      rules: keyRules('annotations'),
    }),
  ),
}

/** These read prefixes only; `keyProblems` checks the rest. */
function keyRules(field: Field): readonly Rule[] {
  return [
    keysLimit(LABEL_KEY_LENGTH, field),
    {
      rule: `!self.exists(key, key.startsWith('${GROUP}/') || key.startsWith('${INTERNAL}/'))`,
      message: `${field} has a key under ${GROUP}, which is Culvert's own: choose another prefix`,
    },
  ]
}

/** Problems of labels and annotations that CEL cannot detect; `path` is the path of the object that has them. */
function outputMetadataProblems(path: string, { labels, annotations }: Partial<OutputTemplate>): readonly string[] {
  return [...keyProblems(`${path}.labels`, labels), ...keyProblems(`${path}.annotations`, annotations)]
}
