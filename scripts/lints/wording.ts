import type { Finding } from './lint.ts'

/** A file in which people read prose: `docs/install.md`. */
export interface ProseFile {
  readonly path: string
  readonly content: string
}

/** How often the words to avoid may still occur in an area; in others they may not. Only ever lower a number. */
export type Allowance = Readonly<Record<string, number>>

/** Words and phrases that are nearly always wrong in our prose, and what to write. */
const WORDS: Readonly<Record<string, string>> = {
  anew: 'again, re-…',
  amid: 'during, among',
  'are there': 'exist',
  'bears?|bore|borne': 'carries, has',
  beside: 'next to, in addition to',
  'by and by': 'gradually',
  'for good': 'permanently',
  'goes on': 'continues',
  '(has|have) come': 'arrives, is due',
  'host folder': 'hostPath',
  'in place of': 'instead of',
  'is there': 'exists',
  '(let|lets|letting) go of': 'releases, drops its reference to',
  'may stand': 'is allowed',
  'mend(s|ed|ing)?': 'repair, fix, restore',
  'of late': 'recently',
  '(object|resource)s? at the API': 'remote object',
  '(put|puts|putting) right': 'repair, fix, restore',
  shall: 'must, will',
  sought: 'searched for',
  '(spec|manifest) names': 'sets',
  thereby: 'and so',
  untold: 'not reported',
  whoever: 'anyone who, the user who',
  '(is|are|was|were) told': 'is notified, learns',
}

const PATTERN = new RegExp(`(?<![\\w.$-])(?:${Object.keys(WORDS).join('|')})(?![\\w$-]|\\.\\w)`, 'gi')

/** Compares how often each area uses the words with what it is allowed. The table has to shrink with the prose. */
export function wordingFindings(files: readonly ProseFile[], allowance: Allowance): readonly Finding[] {
  const found = Map.groupBy(files, ({ path }) => path.split('/')[0] ?? path)
  const areas = new Set([...found.keys(), ...Object.keys(allowance)])
  return [...areas].flatMap((place): readonly Finding[] => {
    const uses = (found.get(place) ?? []).flatMap(usesIn)
    const allowed = allowance[place] ?? 0
    if (uses.length === allowed) return []
    if (uses.length < allowed) return [{ place, problem: `uses ${uses.length} of the words to avoid: allow no more` }]
    const problem = `uses ${uses.length} of the words to avoid, ${allowed} are allowed: ${uses.join('; ')}`
    return [{ place, problem }]
  })
}

function usesIn({ path, content }: ProseFile): readonly string[] {
  const prose = path.endsWith('.md') ? withoutCode(content) : SOURCE.test(path) ? proseOfSource(content) : content
  return [...prose.replace(/\s+/g, ' ').matchAll(PATTERN)].map(([word]) => `${path}: ${word} (${remedy(word)})`)
}

function remedy(word: string): string {
  const entry = Object.entries(WORDS).find(([pattern]) => new RegExp(`^(${pattern})$`, 'i').test(word))
  return entry?.[1] ?? ''
}

const SOURCE = /\.(ts|go)$/
/** Stands for what is left out, so that the words around it do not become a phrase. */
const GAP = ' … '
/** Code blocks, code spans, and targets of links. */
const CODE = /^ *```[\s\S]*?^ *```|`[^`\n]*`|\]\([^)\s]*\)/gm

function withoutCode(markdown: string): string {
  return markdown.replace(CODE, GAP)
}

/** Comments, strings and regular expressions; the last are recognised only so that quotes in them begin no string. */
const TOKENS =
  /\/\/[^\n]*(?:\n\s*\/\/[^\n]*)*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|(?<=[=(,:[!&|?{};]\s*)\/(?:\\.|\[(?:\\.|[^\]\n\\])*\]|[^/\n\\])+\//g

/** Comments and string literals, except paths of modules. Lines of one comment are joined: phrases span line breaks. */
function proseOfSource(source: string): string {
  const tokens = (source.match(TOKENS) ?? []).filter((token) => !/^(['"](\.|node:)|\/[^/*])/.test(token))
  return tokens
    .map((token) => {
      if (token.startsWith('`')) return token.slice(1, -1).replace(/\$\{[^{}]*\}/g, GAP)
      return token.startsWith('/') ? withoutCode(token.replace(/\n\s*(\*|\/\/)/g, ' ')) : token
    })
    .join(GAP)
}
