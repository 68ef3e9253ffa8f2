import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../../support/paths.ts'

/** The commands in a document under a heading, one text for each block. @throws Error if there are none */
export async function documented(file: string, heading: string): Promise<readonly string[]> {
  const text = await readFile(join(ROOT, file), 'utf8')
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? ''
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands = '']) => commands)
  if (blocks.length === 0) throw new Error(`${file} has no commands under "${heading}"`)
  return blocks
}
