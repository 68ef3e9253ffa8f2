import { readFileSync } from 'node:fs'

/** One metric as documented in docs/metrics.md. */
export interface DocumentedMetric {
  readonly type: string
  readonly labels: readonly string[]
  readonly series: string
  readonly meaning: string
}

const PAGE = new URL('../../docs/metrics.md', import.meta.url)
const AGENTS = new URL('../../docs/traffic.md', import.meta.url)

/** Every metric in the tables of the page, by name. */
export function documentedMetrics(): ReadonlyMap<string, DocumentedMetric> {
  const rows = page().matchAll(/^\| `(\w+)` \| (\w+) \|([^|]*)\| ([^|]+) \| (.+) \|$/gm)
  return new Map(
    [...rows].map(([, name = '', type = '', labels = '', series = '', meaning = '']) => {
      return [name, { type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label), series, meaning }]
    }),
  )
}

/** Every metric of agents in the table of docs/traffic.md, by name, with its labels. */
export function agentMetrics(): ReadonlyMap<string, Pick<DocumentedMetric, 'labels'>> {
  const rows = readFileSync(AGENTS, 'utf8').matchAll(/^\| `(culvert_agent_\w+)(?:\{([\w,]+)\})?` \|/gm)
  return new Map([...rows].map(([, name = '', labels]) => [name, { labels: labels?.split(',') ?? [] }]))
}

function page(): string {
  return readFileSync(PAGE, 'utf8')
}
