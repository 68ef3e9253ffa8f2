import type { InputSource, KeyRef } from './common.ts'
import type { Desired } from './desired.ts'

/** What a kind takes from Secrets and ConfigMaps. */
export interface Inputs<Spec> {
  of(spec: Spec): readonly Input[]
  /** Problems of the values found; each names the field and the remedy, never the value. Absent: any value will do. */
  problems?(desired: Desired<Spec>): readonly string[]
}

/** A value that a spec takes from a Secret or ConfigMap, with the path of its field. */
export interface Input {
  readonly path: string
  readonly source: InputSource
  readonly ref: KeyRef
  /**
   * The value may have several lines, as PEM does, and is taken to the letter. Default: it is one line, which loses the
   * line break at its end, and contains no other control character.
   */
  readonly multiline?: true
}
