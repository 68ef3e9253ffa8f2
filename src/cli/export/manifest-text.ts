import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { jsonText, nameText, printable } from '../../util/printable.ts'
import { writeYaml } from '../../util/yaml/write.ts'
import type { Exported, ExportResult, LeftOut } from './export-account.ts'

/** The manifests as one stream of YAML documents, with what is to be known of each, and of all, above it. */
export function manifestText(result: ExportResult): string {
  const lines = noteLines(result)
  const head = lines.map((line) => `${`# ${line}`.trimEnd()}\n`).join('')
  const documents = result.manifests.map(documentText)
  return [...(lines.length === 0 ? [] : [head]), ...documents].join('---\n')
}

/** One manifest, with what is to be known of it above it. */
function documentText({ manifest, notes }: Exported): string {
  return notes.map((note) => `# ${printable(note)}\n`).join('') + writeYaml(manifest)
}

/** What is to be known of the export as a whole, line by line: what is not in it, and what Terraform has to forget. */
function noteLines({ leftOut, terraform }: Pick<ExportResult, 'leftOut' | 'terraform'>): readonly string[] {
  const left = leftOut.length === 0 ? [] : ['Left out:', ...leftOut.map((each) => `  ${leftOutText(each)}`)]
  const remove = terraform.map((address) => `terraform state rm ${shellWord(address)}`)
  const covered =
    remove.length === 0 ? [] : ['In the Terraform state. Remove before anything here is changed:', ...remove]
  return [...left, ...(left.length > 0 && covered.length > 0 ? [''] : []), ...covered]
}

/** An object without a manifest, in one line. */
export function leftOutText({ collection, id, name, why }: LeftOut): string {
  const object = id === undefined ? collection : `${collection}/${nameText(id)}`
  return printable(`${object}${name === undefined ? '' : ` ${jsonText(name)}`}: ${why}`)
}

/** An address of Terraform as one word of a shell. */
function shellWord(address: string): string {
  return /^[\w.-]+$/.test(address) ? address : `'${printable(address).replaceAll("'", "'\\''")}'`
}

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
    throw new SplitError(`--split ${folder} cannot be used (${why}): name a new or empty folder`, { cause: error })
  }
  if (names.length > 0) throw new SplitError(`--split ${folder} is not empty: name a new or empty folder`)
}
