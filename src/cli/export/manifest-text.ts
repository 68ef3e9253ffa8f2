import { Document, stringify } from 'yaml'
import { printable } from '../../util/printable.ts'
import type { Exported, ExportResult } from './export-account.ts'

/** The manifests as one stream of YAML documents, with what is to be known of each above it. */
export function manifestText({ manifests }: Pick<ExportResult, 'manifests'>): string {
  return manifests.map(documentText).join('---\n')
}

function documentText({ manifest, notes }: Exported): string {
  if (notes.length === 0) return stringify(manifest, FORM)
  const document = new Document(manifest)
  if (document.contents !== null)
    document.contents.commentBefore = notes.map((note) => ` ${printable(note)}`).join('\n')
  return document.toString(FORM).trimStart()
}

/** Texts stay on one line, so that they are the same when they are read again. */
const FORM = { lineWidth: 0, aliasDuplicateObjects: false } as const
