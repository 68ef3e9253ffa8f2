import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExportResult } from './export-account.ts'
import { documentText, noteLines } from './manifest-text.ts'

/** The folder cannot take the files of an export. The message says why, and the remedy. */
export class SplitError extends Error {
  override readonly name = 'SplitError'
  readonly code = 'FOLDER_UNUSABLE'
}

/** What is to be known of the export as a whole: kubectl reads no such file. */
const NOTES = 'NOTES.txt'

/**
 * Writes each manifest into a file of its own, `edge-shop.yaml`, in a folder that is new or empty.
 *
 * @throws SplitError
 */
export async function writeSplit(folder: string, result: ExportResult): Promise<void> {
  await claim(folder)
  for (const exported of result.manifests) {
    const { kind, metadata } = exported.manifest
    await writeFile(join(folder, `${kind.toLowerCase()}-${metadata.name}.yaml`), documentText(exported))
  }
  const notes = noteLines(result)
  if (notes.length > 0) await writeFile(join(folder, NOTES), `${notes.join('\n')}\n`)
}

/** What an earlier export left there would be applied with this one. */
async function claim(folder: string): Promise<void> {
  let names: readonly string[]
  try {
    await mkdir(folder, { recursive: true })
    names = await readdir(folder)
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new SplitError(`--split ${folder} cannot be used (${why}): choose a new or empty folder`, { cause: error })
  }
  if (names.length > 0) throw new SplitError(`--split ${folder} is not empty: choose a new or empty folder`)
}
