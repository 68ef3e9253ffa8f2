import { Document, Scalar, visit } from 'yaml'
import { escaped, escapedBy, printable } from '../../util/printable.ts'
import type { Exported, ExportResult } from './export-account.ts'

/** The manifests as one stream of YAML documents, with what is to be known of each above it. */
export function manifestText({ manifests }: Pick<ExportResult, 'manifests'>): string {
  return manifests.map(documentText).join('---\n')
}

function documentText({ manifest, notes }: Exported): string {
  const document = new Document(manifest, FORM)
  visit(document, { Scalar: (_key, scalar) => quoteUnprintable(scalar) })
  if (document.contents !== null && notes.length > 0) {
    document.contents.commentBefore = notes.map((note) => ` ${printable(note)}`).join('\n')
  }
  return escapedBy(document.toString(FORM).trimStart(), escapeOf, true)
}

/** Only between double quotes can a character be written as its code point. */
function quoteUnprintable(scalar: Scalar): void {
  const { value } = scalar
  if (typeof value === 'string' && escaped(value, true) !== value) scalar.type = Scalar.QUOTE_DOUBLE
}

/** As YAML writes it: other than in JSON, not as surrogates. */
function escapeOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16)
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`
}

/** Texts stay on one line, so that they are the same when they are read again. */
const FORM = { lineWidth: 0, aliasDuplicateObjects: false } as const
