import { Type } from 'typebox'
import { keyProblems } from '../../managed/descriptor/metadata.ts'
import type { OutputTemplate } from '../../managed/descriptor/output.ts'
import { LABEL_KEY_LENGTH, labelText } from '../../managed/descriptor/text-schemas.ts'
import { GROUP, INTERNAL, MANAGED_BY } from '../../managed/names.ts'
import { stringMap, text } from '../../schema/define.ts'
import { keysLimit, type Rule } from '../../schema/rules.ts'

/** Several times as many of each as reflectors and reloaders use. */
const ENTRIES = 16

type Field = 'labels' | 'annotations'

/** Spec fields for labels and annotations of the object that outputs are written to. */
export const outputMetadata = {
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
export function outputMetadataProblems(
  path: string,
  { labels, annotations }: Partial<OutputTemplate>,
): readonly string[] {
  return [...keyProblems(`${path}.labels`, labels), ...keyProblems(`${path}.annotations`, annotations)]
}
