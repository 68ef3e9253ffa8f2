import type { KubeObject } from '../../kube/types.ts'
import { ownField } from '../../util/json.ts'
import type { CommonSpec } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { OutputTemplate } from '../descriptor/output.ts'
import { OUTPUT_ANNOTATIONS, OUTPUT_LABELS } from '../names.ts'
import { keysNote, namesNoted } from '../ownership.ts'

type Texts = Readonly<Record<string, string>>

/** A merge patch of an object's metadata: null removes a name. */
export interface MetadataChanges {
  readonly labels: Readonly<Record<string, string | null>>
  readonly annotations: Readonly<Record<string, string | null>>
}

/** For objects whose labels and annotations the spec cannot set. */
export const NO_TEMPLATE: OutputTemplate = { labels: {}, annotations: {} }

/** Labels and annotations that the spec wants on the object with its outputs. */
export function templateOfOutput(
  { output }: Pick<ManagedDescriptor, 'output'>,
  { spec }: { readonly spec: CommonSpec },
): OutputTemplate {
  return output?.template(spec) ?? NO_TEMPLATE
}

/**
 * The changes that make the object match the template; undefined if it does. The object records which of its labels and
 * annotations came from a template, so that those removed from the template are deleted, and no others.
 */
export function templateChanges(object: KubeObject | undefined, template: OutputTemplate): MetadataChanges | undefined {
  const { labels, annotations } = object?.metadata ?? {}
  const changes = {
    labels: changesOf(labels, namesNoted(object, OUTPUT_LABELS), template.labels),
    annotations: {
      ...changesOf(annotations, namesNoted(object, OUTPUT_ANNOTATIONS), template.annotations),
      ...changesOf(annotations, [OUTPUT_LABELS, OUTPUT_ANNOTATIONS], {
        ...noteOfNames(OUTPUT_LABELS, template.labels),
        ...noteOfNames(OUTPUT_ANNOTATIONS, template.annotations),
      }),
    },
  }
  const isSame = Object.keys(changes.labels).length + Object.keys(changes.annotations).length === 0
  return isSame ? undefined : changes
}

function noteOfNames(note: string, texts: Texts): Texts {
  const names = Object.keys(texts)
  return names.length === 0 ? {} : { [note]: keysNote(names) }
}

/** The changes that turn `found` into `wanted`; of the names that are not wanted, only `ours` are removed. */
function changesOf(found: Texts = {}, ours: readonly string[], wanted: Texts): Readonly<Record<string, string | null>> {
  const left = ours.filter((name) => Object.hasOwn(found, name) && !Object.hasOwn(wanted, name))
  const wrong = Object.entries(wanted).filter(([name, text]) => ownField(found, name) !== text)
  return Object.fromEntries([...left.map((name) => [name, null]), ...wrong])
}
