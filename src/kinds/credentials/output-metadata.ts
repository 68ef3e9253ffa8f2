import { Type } from 'typebox'
import { LABEL_KEY_LENGTH, labelText } from '../../managed/descriptor/label-text.ts'
import type { OutputTemplate } from '../../managed/descriptor/output.ts'
import { GROUP, INTERNAL, MANAGED_BY } from '../../managed/names.ts'
import { stringMap, text } from '../../schema/define.ts'
import { keysLimit, type Rule } from '../../schema/rules.ts'

/** Several times as many of each as reflectors and reloaders use. */
const ENTRIES = 16
const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const PREFIX_LENGTH = 253

type Field = 'labels' | 'annotations'
type Texts = Readonly<Record<string, string>>

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

/**
 * CEL assumes no bound for the length of keys, so its rules only read their prefixes; `keyProblems` checks the rest.
 */
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

function keyProblems(path: string, entries: Texts = {}): readonly string[] {
  return Object.keys(entries).flatMap((key) => {
    const slash = key.indexOf('/')
    const prefix = slash < 0 ? undefined : key.slice(0, slash)
    if (prefix === GROUP || prefix?.endsWith(`.${GROUP}`)) {
      return [`${path}: ${JSON.stringify(key)} is under ${GROUP}, which is Culvert's own: choose another prefix`]
    }
    if (NAME.test(key.slice(slash + 1)) && (prefix === undefined || isPrefix(prefix))) return []
    return [`${path}: ${JSON.stringify(key)} is not a valid key: write name or prefix/name, such as example.com/team`]
  })
}

function isPrefix(text: string): boolean {
  return text.length <= PREFIX_LENGTH && PREFIX.test(text)
}
