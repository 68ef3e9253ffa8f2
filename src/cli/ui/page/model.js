/*
 * What the page computes, apart from what it draws: no function here reads or changes anything but its arguments.
 */

/**
 * @typedef {'bad' | 'warn' | 'ok' | 'idle'} Look
 * @typedef {{ id: string, look: Look, state: string, message?: string, hosts: string[], access: string, answers: string, since?: string }} Row
 * @typedef {{ text: string, label?: string, look: Look, detail?: string, depth?: number, rule?: string, isAddress?: boolean }} Part
 * @typedef {{ kind: string, title: string, look: Look, text: string, parts: Part[] }} Step
 * @typedef {{ id: string, steps: Step[], failing?: string, sentence?: string, remedy?: string, command?: string }} Line
 * @typedef {{ kind: string, outcome: string, text: string, rule?: string, source?: string, command?: string, details?: string[] }} JudgedStep
 * @typedef {{ verdict: string, from: string, steps: JudgedStep[] }} Judgement
 * @typedef {{ edge: string, from: string, filter: string }} View
 */

/** @type {Record<string, number>} */
const RANKS = { bad: 0, warn: 1, ok: 2, idle: 3 }

/**
 * Rows with what has changed.
 *
 * @param {ReadonlyMap<string, Row>} rows
 * @param {{ set: readonly Row[], gone: readonly string[] }} change
 * @returns {Map<string, Row>}
 */
export function changedRows(rows, { set, gone }) {
  const next = new Map(rows)
  for (const id of gone) next.delete(id)
  for (const row of set) next.set(row.id, row)
  return next
}

/**
 * Rows that contain every word of the filter, worst first, then by name, so that rows stay where they are.
 *
 * @param {Iterable<Row>} rows
 * @param {string} filter
 * @returns {Row[]}
 */
export function shownRows(rows, filter) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const found =
    words.length === 0 ? [...rows] : [...rows].filter((row) => words.every((word) => textOf(row).includes(word)))
  return found.sort((left, right) => rankOf(left) - rankOf(right) || (left.id < right.id ? -1 : 1))
}

/** @param {Row} row */
function rankOf({ look }) {
  return RANKS[look] ?? RANKS.idle ?? 3
}

/** @param {Row} row */
function textOf({ id, state, message = '', hosts, access, answers }) {
  return [id, state, message, ...hosts, accessText(access), answers].join(' ').toLowerCase()
}

/**
 * Which rows of a long list are drawn: those in sight and some before and after.
 *
 * @param {{ top: number, height: number, rowHeight: number, count: number }} scroll
 * @returns {{ first: number, last: number }} `last` is not drawn any more
 */
export function windowOf({ top, height, rowHeight, count }) {
  const spare = 5
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight) - spare))
  return { first, last: Math.min(count, first + Math.ceil(height / rowHeight) + 2 * spare) }
}

/**
 * What an address shows. It never has a token: the server has removed it.
 *
 * @param {string} search
 * @returns {View}
 */
export function viewOf(search) {
  const query = new URLSearchParams(search)
  return { edge: query.get('edge') ?? '', from: query.get('from') ?? '', filter: query.get('filter') ?? '' }
}

/**
 * The address of a view.
 *
 * @param {Partial<View>} view
 */
export function addressOf(view) {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(view)) if (value) query.set(name, value)
  // Slashes and colons mean nothing special in a query.
  const text = query.toString().replaceAll('%2F', '/').replaceAll('%3A', ':')
  return text === '' ? '/' : `/?${text}`
}

const UNITS = /** @type {const} */ ([
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
])

/**
 * For how long something has been so, as `3 hours`.
 *
 * @param {string | undefined} since RFC 3339
 * @param {number} now milliseconds
 */
export function ageText(since, now) {
  const ms = since === undefined ? Number.NaN : now - Date.parse(since)
  if (Number.isNaN(ms)) return ''
  const unit = UNITS.find(([, each]) => ms >= each)
  if (unit === undefined) return 'less than a minute'
  const count = Math.floor(ms / unit[1])
  return `${count} ${unit[0]}${count === 1 ? '' : 's'}`
}

/** @type {Record<string, string>} */
const ACCESS = {
  everyone: 'Everyone may connect',
  addresses: 'Only allowed addresses',
  certificates: 'Only client certificates',
}

/** @param {string} access */
export function accessText(access) {
  return ACCESS[access] ?? 'Access not reported yet'
}

/**
 * How many edges fail, for people who cannot see the list.
 *
 * @param {Iterable<Row>} rows
 */
export function countText(rows) {
  const all = [...rows]
  const of = (/** @type {Look} */ look) => all.filter((row) => row.look === look).length
  const edges = `${all.length} edge${all.length === 1 ? '' : 's'}`
  return all.length === 0 ? 'No edges' : `${edges}: ${of('bad')} failing, ${of('warn')} waiting or with warnings`
}

/**
 * The steps of a line with what a judgement says of each.
 *
 * @param {Line} line
 * @param {Judgement | undefined} judgement
 */
export function judgedSteps({ steps, failing }, judgement) {
  return steps.map((step) => {
    const judged = judgement?.steps.find(({ kind }) => kind === step.kind)
    const decides = judged !== undefined && judged.outcome === 'refuses'
    const parts = step.parts.map((part) => {
      return { ...part, isDeciding: judged?.rule !== undefined && part.rule === judged.rule }
    })
    return { ...step, parts, judged, decides, fails: step.kind === failing }
  })
}

/** @param {Judgement} judgement */
export function verdictText({ verdict, from, steps }) {
  if (verdict === 'admitted') return `A connection from ${from} is admitted.`
  const deciding = steps.find(({ outcome }) => outcome === (verdict === 'refused' ? 'refuses' : 'unknown'))
  const why = deciding === undefined ? '' : `: ${deciding.text}`
  return verdict === 'refused'
    ? `A connection from ${from} is refused${why}.`
    : `Whether a connection from ${from} is admitted is not known${why}.`
}

/**
 * What the page shows of an edge, to paste into a ticket. Texts come from anyone, so none of them is Markdown.
 *
 * @param {Row | undefined} row
 * @param {Line} line
 * @param {Judgement | undefined} judgement
 */
export function markdownOf(row, line, judgement) {
  const head = row === undefined ? '' : ` — ${plain(row.state)}`
  const lines = [`## Edge ${plain(line.id)}${head}`, '']
  if (row !== undefined) lines.push(`${plain(accessText(row.access))}. Answers: ${plain(row.answers)}.`, '')
  if (line.sentence !== undefined) lines.push(`**${plain(line.sentence)}** ${plain(line.remedy ?? '')}`.trim(), '')
  if (line.command !== undefined) lines.push('```sh', line.command.replaceAll('`', ''), '```', '')
  if (judgement !== undefined) lines.push(plain(verdictText(judgement)), '')
  for (const { title, text, parts, judged, fails } of judgedSteps(line, judgement)) {
    lines.push(`- ${fails ? '**' : ''}${plain(title)}${fails ? '** ✕' : ''}: ${plain(judged?.text ?? text)}`)
    for (const { text: part, label, detail, depth = 0, isDeciding } of parts) {
      const before = label === undefined ? '' : `${plain(label)} `
      const after = detail === undefined ? '' : ` (${plain(detail)})`
      lines.push(`${'  '.repeat(depth + 1)}- ${before}${plain(part)}${after}${isDeciding ? ' ← decides' : ''}`)
    }
  }
  return `${lines.join('\n')}\n`
}

/** @param {string} text */
function plain(text) {
  return text.replaceAll(/[\\`*_{}[\]<>#|~!&@]/g, (character) => `\\${character}`)
}
