/** Stands for text left out, so that words on both sides of it do not become a phrase. */
const GAP = ' \u0000 '

/** Code in prose, which is no English: code blocks, code spans, targets of links, HTML comments. */
const MARKDOWN_CODE = /^( *)(```|~~~)[\s\S]*?^\1\2[^\n]*$|`[^`\n]*`|\]\([^)\s]*\)|<!--[\s\S]*?-->/gm

/** The prose of a Markdown page: everything but code and the targets of links. */
export function proseOfMarkdown(page: string): string {
  return page.replace(MARKDOWN_CODE, GAP)
}

/**
 * The prose of a source file in TypeScript or Go: its comments and string literals, without code spans, and without
 * strings that are paths of modules. Lines of one comment are joined, so that a phrase is found across a line break.
 */
export function proseOfSource(source: string): string {
  const found: string[] = []
  scan(source, 0, false, found)
  return proseOfMarkdown(found.join('\n').replace(/\n\s*(\*|\/\/) ?/g, ' '))
}

/** Collects prose from `start` to the end, or to the brace that closes a template's placeholder. Returns where it ended. */
function scan(source: string, start: number, inTemplate: boolean, found: string[]): number {
  let at = start
  let depth = 0
  let previous = ''
  while (at < source.length) {
    const next = source[at] ?? ''
    const end = endOfToken(source, at, previous)
    if (next === '`') {
      at = scanTemplate(source, at + 1, found)
    } else if (end > at) {
      const token = source.slice(at, end)
      const isModule = /^['"](\.{0,2}\/|node:)/.test(token)
      if (next !== '/' || /^\/[/*]/.test(token)) found.push(isModule ? GAP : token)
      at = end
    } else {
      if (next === '{') depth += 1
      if (next === '}' && inTemplate && depth === 0) return at + 1
      if (next === '}') depth -= 1
      at += 1
    }
    if (/\S/.test(next)) previous = end > at ? '' : (previous + next).slice(-8)
  }
  return at
}

/** Collects the text of a template literal; a placeholder is scanned as code. Returns the end of the literal. */
function scanTemplate(source: string, start: number, found: string[]): number {
  let text = ''
  let at = start
  while (at < source.length && source[at] !== '`') {
    if (source[at] === '\\') {
      at += 2
    } else if (source.startsWith('${', at)) {
      text += GAP
      at = scan(source, at + 2, true, found)
    } else {
      text += source[at]
      at += 1
    }
  }
  found.push(text)
  return at + 1
}

/** The end of the comment, string or regular expression that begins at `at`; `at` itself if none does. */
function endOfToken(source: string, at: number, previous: string): number {
  const token = TOKENS.find(({ begins }) => source.startsWith(begins, at))
  if (token) return matchEnd(token.pattern, source, at)
  const isExpression = source[at] === '/' && /(^|[=(,:[!&|?{};>]|return)$/.test(previous)
  return isExpression ? matchEnd(/\/(\\.|\[(\\.|[^\]\n])*\]|[^/\n\\])+\//y, source, at) : at
}

const TOKENS = [
  { begins: '//', pattern: /[^\n]*(\n\s*\/\/[^\n]*)*/y },
  { begins: '/*', pattern: /\/\*[\s\S]*?\*\//y },
  { begins: "'", pattern: /'(\\.|[^'\\\n])*'/y },
  { begins: '"', pattern: /"(\\.|[^"\\\n])*"/y },
]

function matchEnd(pattern: RegExp, source: string, at: number): number {
  pattern.lastIndex = at
  return at + (pattern.exec(source)?.[0].length ?? 0)
}
