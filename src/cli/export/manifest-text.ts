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
export function documentText({ manifest, notes }: Exported): string {
  return notes.map((note) => `# ${printable(note)}\n`).join('') + writeYaml(manifest)
}

/** What is to be known of the export as a whole, line by line: what is not in it, and what Terraform has to forget. */
export function noteLines({ leftOut, terraform }: Pick<ExportResult, 'leftOut' | 'terraform'>): readonly string[] {
  const left = leftOut.length === 0 ? [] : ['Left out:', ...leftOut.map((each) => `  ${leftOutText(each)}`)]
  const remove = terraform.map((address) => `terraform state rm ${shellWord(address)}`)
  const covered =
    remove.length === 0 ? [] : ['In the Terraform state. Remove it there before you change anything here:', ...remove]
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
