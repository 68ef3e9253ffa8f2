import htm from 'htm'
import { Component, h, render } from 'preact'
import {
  accessText,
  addressOf,
  ageText,
  changedRows,
  countText,
  judgedSteps,
  markdownOf,
  shownRows,
  verdictText,
  viewOf,
  windowOf,
} from './model.js'

const html = htm.bind(h)

/** Height of a row in the list, as in page.css. */
const ROW_HEIGHT = 108
/** The line of an edge is read again at most this often, and what happened less often, in milliseconds. */
const LINE_MS = 1_000
const HISTORY_MS = 10_000

const MARKS = { bad: '✕', warn: '!', ok: '✓', idle: '·' }
const MARK_NAMES = { bad: 'fails', warn: 'needs attention', ok: 'works', idle: '' }

function Mark({ look }) {
  const name = MARK_NAMES[look]
  return html`<span class=${`mark ${look}`}><span aria-hidden="true">${MARKS[look]}</span>${name && html`<span class="unseen">${name}: </span>`}</span>`
}

function CopyButton({ text, name, label = 'Copy', onCopy }) {
  return html`<button type="button" class="copy" aria-label=${name} onClick=${() => onCopy(text, name)}>${label}</button>`
}

function EdgeRow({ row, index, count, view, now, onOpen, onCopy }) {
  const { id, look, state, message, hosts, access, answers, since } = row
  const [host] = hosts
  const more = hosts.length > 1 ? ` and ${hosts.length - 1} more` : ''
  const age = ageText(since, now)
  const isOpen = view.edge === id
  const open = (event) => onOpen(event, id)
  return html`
    <li class=${`row ${isOpen ? 'open' : ''}`} style=${{ top: `${index * ROW_HEIGHT}px` }} aria-setsize=${count} aria-posinset=${index + 1}>
      <a href=${addressOf({ ...view, edge: id })} aria-current=${isOpen ? 'true' : undefined} onClick=${open}>
        <${Mark} look=${look} /><strong>${id}</strong>
        <span class=${`state ${look}`}>${state}${age && html`<span class="age"> for ${age}</span>`}</span>
      </a>
      <div class="host"><code>${host ?? 'no host'}</code>${more}
        ${host && html`<${CopyButton} text=${host} name=${`Copy ${host}`} onCopy=${onCopy} />`}</div>
      <div class="facts"><span class=${access === 'everyone' ? 'everyone' : ''}>${accessText(access)}</span> · ${message ?? answers}</div>
    </li>`
}

class EdgeList extends Component {
  state = { top: 0, height: 800 }

  componentDidMount() {
    this.measure = () => this.setState({ top: this.box.scrollTop, height: this.box.clientHeight })
    addEventListener('resize', this.measure)
    this.measure()
  }

  componentWillUnmount() {
    removeEventListener('resize', this.measure)
  }

  /** Arrow keys go from link to link; the browser scrolls to the one that gets the focus. */
  move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const links = [...this.box.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement)
    if (step === undefined || at < 0) return
    event.preventDefault()
    links[at + step]?.focus()
  }

  render({ rows, ...given }, { top, height }) {
    const { first, last } = windowOf({ top, height, rowHeight: ROW_HEIGHT, count: rows.length })
    return html`
      <div class="scroll" ref=${(box) => {
        this.box = box ?? this.box
      }} onScroll=${() => this.measure()} onKeyDown=${(event) => this.move(event)}>
        <ul style=${{ height: `${rows.length * ROW_HEIGHT}px` }} role="list">
          ${rows.slice(first, last).map((row, index) => html`<${EdgeRow} key=${row.id} row=${row} index=${first + index} count=${rows.length} ...${given} />`)}
        </ul>
      </div>`
  }
}

function PartView({ part, onCopy }) {
  const { text, label, look, detail, depth = 0, isAddress, isDeciding } = part
  return html`
    <li class=${`part depth-${Math.min(depth, 4)} ${isDeciding ? 'deciding' : ''}`}>
      <${Mark} look=${look} />${label && html`<span class="label">${label}</span> `}<span class=${isAddress ? 'address' : ''}>${text}</span>
      ${isAddress && html`<${CopyButton} text=${text} name=${`Copy ${text}`} onCopy=${onCopy} />`}
      ${isDeciding && html`<strong class="decides"> ← this rule decides</strong>`}
      ${detail && html`<span class="detail">${detail}</span>`}
    </li>`
}

function StepView({ step, onCopy }) {
  const { title, look, text, parts, judged, decides, fails } = step
  const shown =
    judged === undefined ? look : ({ passes: 'ok', refuses: 'bad', unknown: 'warn' }[judged.outcome] ?? 'idle')
  return html`
    <li class=${`step ${fails ? 'fails' : ''} ${decides ? 'decides-step' : ''}`}>
      <h3><${Mark} look=${shown} />${title}</h3>
      <p>${judged?.text ?? text}${decides && judged.source && html` <span class="age">(${judged.source.replace(/T(\d\d:\d\d:\d\d)\.\d+Z/, ' $1Z')})</span>`}</p>
      ${judged?.details?.length > 0 && html`<pre class="details">${judged.details.join('\n')}</pre>`}
      ${judged?.command && decides && html`<${Command} command=${judged.command} onCopy=${onCopy} />`}
      ${parts.length > 0 && html`<ul role="list">${parts.map((part) => html`<${PartView} part=${part} onCopy=${onCopy} />`)}</ul>`}
    </li>`
}

/** Text with what is between backticks as code. */
function codeOf(text) {
  return text.split('`').map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : piece))
}

function Command({ command, onCopy }) {
  return html`<div class="command"><pre tabindex="0" role="region" aria-label="Command"><code>${command}</code></pre>
    <${CopyButton} text=${command} name="Copy the command" onCopy=${onCopy} /></div>`
}

function Table({ caption, heads, rows, empty }) {
  if (rows.length === 0) return html`<p>${empty}</p>`
  return html`
    <div class="table" tabindex="0" role="region" aria-label=${caption}>
      <table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
      <tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table>
    </div>`
}

function HistoryView({ history }) {
  if (history === undefined) return html`<p>Reading Events and audit records…</p>`
  if (history.error) return html`<p class="bad">${history.error}</p>`
  const { events = [], unread = [], connections } = history
  const time = (at) => html`<time datetime=${at}>${at.replace('T', ' ').replace(/\.\d+Z$/, 'Z')}</time>`
  const eventRows = events.toReversed().map(({ at, reason, object, note, isRequest, type }) => {
    return [
      time(at),
      html`<span class=${type === 'Warning' ? 'bad' : ''}>${reason}</span>`,
      isRequest ? 'request' : 'Event',
      object,
      note,
    ]
  })
  const seen = (connections ?? []).toReversed().map(({ at, source, host, verdict, rule, reason }) => {
    return [
      time(at),
      source,
      host,
      html`<span class=${verdict === 'served' ? '' : 'bad'}>${verdict}</span>`,
      rule ?? '',
      reason,
    ]
  })
  return html`
    <h3>Events and requests to the API</h3>
    ${unread.map((text) => html`<p class="detail">${text}</p>`)}
    <${Table} caption="Events and requests to the API" heads=${['Time', 'Reason', 'Record', 'Object', 'Note']} rows=${eventRows} empty="None in the last hour." />
    <h3>Connections</h3>
    ${
      connections === undefined
        ? html`<p>The service does not report individual connections, so they cannot be shown here. Enter an address above to see which rule decides.</p>`
        : html`<${Table} caption="Connections" heads=${['Time', 'From', 'To', 'Verdict', 'Rule', 'Reason']} rows=${seen} empty="No connection yet." />`
    }`
}

function EdgeView({ row, line, judgement, history, view, onFrom, onCopy, onClose }) {
  if (line === undefined) return html`<p>Reading…</p>`
  if (line.error) return html`<p class="bad">${line.error}</p>`
  const steps = judgedSteps(line, judgement?.steps ? judgement : undefined)
  const isPlace = judgement?.steps !== undefined
  return html`
    <a class="back" href=${addressOf({ ...view, edge: '' })} onClick=${onClose}>← All edges</a>
    <div class="title">
      <h2 tabindex="-1" id="edge">${line.id}</h2>
      ${row && html`<span class=${`state ${row.look}`}>${row.state}</span>`}
      <${CopyButton} text=${markdownOf(row, line, isPlace ? judgement : undefined)} name="Copy as Markdown" label="Copy as Markdown" onCopy=${onCopy} />
    </div>
    ${row && html`<p class=${row.access === 'everyone' ? 'everyone' : ''}>${accessText(row.access)}. Answers: ${row.answers}.</p>`}
    ${
      line.sentence &&
      html`<div class="failure" role="group" aria-label="What fails"><p><strong>${line.sentence}</strong></p>
      ${line.remedy && html`<p>${codeOf(line.remedy)}</p>`}
      ${line.command && html`<${Command} command=${line.command} onCopy=${onCopy} />`}</div>`
    }
    <div class="from"><label for="from">From address</label>
      <input id="from" type="text" inputmode="text" autocomplete="off" spellcheck=${false} placeholder="203.0.113.7" value=${view.from} onChange=${onFrom} />
      <div role="status" class=${judgement?.verdict === 'refused' ? 'bad' : ''}>${judgement?.error ?? (isPlace ? verdictText(judgement) : '')}</div></div>
    <ol class="line" aria-label="What a connection meets, in order">${steps.map((step) => html`<${StepView} key=${step.kind} step=${step} onCopy=${onCopy} />`)}</ol>
    <${HistoryView} history=${history} />`
}

class App extends Component {
  /** What the address shows. The state follows it later. */
  view = viewOf(location.search)

  state = {
    rows: new Map(),
    title: '',
    unreadable: [],
    connected: false,
    view: this.view,
    notice: '',
    now: Date.now(),
  }

  componentDidMount() {
    const source = new EventSource('/changes')
    source.addEventListener('start', ({ data }) => {
      const { rows, title, unreadable } = JSON.parse(data)
      this.setState({ rows: new Map(rows.map((row) => [row.id, row])), title, unreadable, connected: true })
      document.title = `Culvert: ${title}`
      void this.readEdge()
    })
    source.addEventListener('change', ({ data }) => {
      const change = JSON.parse(data)
      this.setState(({ rows }) => ({ rows: changedRows(rows, change) }))
      this.changed = true
    })
    source.addEventListener('error', () => this.setState({ connected: false }))
    addEventListener('popstate', () => {
      this.view = viewOf(location.search)
      this.setState({ view: this.view })
      void this.readEdge()
    })
    setInterval(() => {
      if (this.changed) void this.readLine()
      this.changed = false
    }, LINE_MS)
    setInterval(() => {
      this.setState({ now: Date.now() })
      void this.readHistory()
    }, HISTORY_MS)
  }

  show(view, isNew) {
    this.view = { ...this.view, ...view }
    history[isNew ? 'pushState' : 'replaceState'](null, '', addressOf(this.view))
    this.setState({ view: this.view })
  }

  readEdge() {
    this.setState({ line: undefined, history: undefined, judgement: undefined })
    return Promise.all([this.readLine(), this.readJudgement(), this.readHistory()])
  }

  /** Keeps an answer only if the page still shows what it is about. */
  async read(path, query, keep) {
    const { edge, from } = this.view
    if (edge === '') return
    try {
      const response = await fetch(`${path}?${new URLSearchParams({ edge, ...query })}`)
      const value = await response.json()
      if (this.view.edge === edge && this.view.from === from) keep(value)
    } catch {
      this.setState({ connected: false })
    }
  }

  async readLine() {
    await this.read('/edge', {}, (line) => this.setState({ line }))
  }

  /** Only when a person asks: it reads the account. */
  async readJudgement() {
    const { from } = this.view
    this.setState({ judgement: undefined })
    if (from !== '') await this.read('/judge', { from }, (judgement) => this.setState({ judgement }))
  }

  readHistory() {
    return this.read('/history', {}, (found) => this.setState({ history: found }))
  }

  async open(event, edge) {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    this.show({ edge }, true)
    await this.readEdge()
    document.getElementById(edge === '' ? 'filter' : 'edge')?.focus()
  }

  async copy(text, name) {
    await navigator.clipboard.writeText(text)
    this.setState({ notice: `Done: ${name}` })
  }

  render(_, { rows, title, unreadable, connected, view, line, judgement, history: found, notice, now }) {
    if (this.sorted?.rows !== rows || this.sorted.filter !== view.filter) {
      this.sorted = {
        rows,
        filter: view.filter,
        shown: shownRows(rows.values(), view.filter),
        count: countText(rows.values()),
      }
    }
    const { shown, count } = this.sorted
    const onCopy = (text, name) => this.copy(text, name)
    return html`
      <header>
        <h1>Culvert <span class="age">${title}</span></h1>
        <div role="status">${connected ? count : 'No connection to culvert ui: what is shown may be out of date.'}</div>
        <div role="status" class="unseen">${notice}</div>
        ${unreadable.map(({ message, command }) => html`<p class="detail">Not shown: ${message} <code>${command}</code></p>`)}
      </header>
      <div class=${view.edge === '' ? 'panes' : 'panes has-edge'}>
        <nav aria-label="Edges">
          <div class="filter"><label for="filter">Filter</label>
            <input id="filter" type="search" value=${view.filter} onInput=${(event) => this.show({ filter: event.target.value }, false)} /></div>
          ${shown.length === 0 && html`<p>${rows.size === 0 ? 'There are no Edges here.' : 'No edge matches the filter.'}</p>`}
          <${EdgeList} rows=${shown} view=${view} now=${now} onCopy=${onCopy} onOpen=${(event, id) => this.open(event, id)} />
        </nav>
        <main>
          ${
            view.edge === ''
              ? html`<p class="hint">Choose an edge to see what a connection to it meets, in order.</p>`
              : html`<${EdgeView} row=${rows.get(view.edge)} line=${line} judgement=${judgement} history=${found} view=${view} onCopy=${onCopy}
                onClose=${(event) => this.open(event, '')}
                onFrom=${(event) => {
                  this.show({ from: event.target.value.trim() }, false)
                  void this.readJudgement()
                }} />`
          }
        </main>
      </div>`
  }
}

render(h(App, null), document.getElementById('app'))
