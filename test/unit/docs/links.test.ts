import { access, glob, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const DOCUMENTS = ['*.md', 'docs/**/*.md', 'examples/**/*.md', 'charts/**/*.md']
/** Fenced blocks are examples: they contain no links or headings. */
const FENCE = /^ *```.*?^ *```/gms
/** Inline code, such as a pattern, that may look like a link. */
const CODE = /`[^`\n]*`/g
const LINK = /\]\((?!https?:|mailto:)(?<file>[^)#\s]*)(?:#(?<anchor>[^)\s]*))?\)/g

const documents = new Map<string, string>()
for await (const path of glob(DOCUMENTS, { cwd: ROOT })) {
  documents.set(path, (await readFile(join(ROOT, path), 'utf8')).replace(FENCE, ''))
}

/** GitHub's anchors for the headings of a document. */
function anchorsOf(text: string): ReadonlySet<string> {
  const slugs = [...text.matchAll(/^#{1,6} +(?<heading>.+)$/gm)].map(({ groups }) => slugOf(groups?.heading ?? ''))
  return new Set(
    slugs.map((slug, index) => (slugs.indexOf(slug) === index ? slug : `${slug}-${countOf(slugs, index)}`)),
  )
}

function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-')
}

/** The number of equal slugs before this one. */
function countOf(slugs: readonly string[], index: number): number {
  return slugs.slice(0, index).filter((slug) => slug === slugs[index]).length
}

async function exists(path: string): Promise<boolean> {
  return await access(join(ROOT, path)).then(
    () => true,
    () => false,
  )
}

test('every link of a document leads to a file of the project, and to a heading that it has', async () => {
  const broken: string[] = []
  let links = 0
  for (const [path, text] of documents) {
    for (const { groups } of text.replace(CODE, '').matchAll(LINK)) {
      const { file = '', anchor } = groups ?? {}
      const target = file === '' ? path : normalize(join(dirname(path), file))
      const found = documents.get(target)
      const isThere = found === undefined ? await exists(target) : anchor === undefined || anchorsOf(found).has(anchor)
      if (!isThere) broken.push(`${path}: ${anchor === undefined ? file : `${file}#${anchor}`}`)
      links++
    }
  }
  expect(links).toBeGreaterThan(300)
  expect(broken).toEqual([])
})

test('every test that the page on security names exists', async () => {
  const named = [...(documents.get('docs/security.md') ?? '').matchAll(/`(?<path>test\/[^`]+\.ts)`/g)]
  const paths = [...new Set(named.map(({ groups }) => groups?.path ?? ''))]
  const missing = await Promise.all(paths.map(async (path) => ((await exists(path)) ? [] : [path])))
  expect(paths.length).toBeGreaterThan(25)
  expect(missing.flat()).toEqual([])
})
