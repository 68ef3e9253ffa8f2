import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { agentMetrics, documentedMetrics } from '../../builders/metrics-page.ts'
import {
  alertRules,
  annotationQueries,
  groupingLabels,
  metricsIn,
  panelQueries,
  ruleFile,
} from '../../builders/monitoring-files.ts'

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

/** Labels that a scrape adds, of agents with the PodMonitor of docs/traffic.md, and that of histogram buckets. */
const SCRAPED = ['instance', 'job', 'namespace', 'pod', 'tunnel']
const BOUND = 'le'

const known: ReadonlyMap<string, { readonly labels: readonly string[] }> = new Map([
  ...documentedMetrics(),
  ...agentMetrics(),
])
const rules = alertRules()
const expressions = [...rules, ...panelQueries(), ...annotationQueries()].map(({ expr }) => expr)

/** The expression without everything that is not a metric name: texts, matchers, durations, lists of labels. */
function bare(expr: string): string {
  return expr
    .replaceAll(/\{[^}]*\}/g, '{}')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(?:by|without|on) \([^)]*\)/g, '')
}

test('alerts and dashboard use documented metrics only, each with braces after it, and only labels that it has', () => {
  for (const expr of expressions) {
    const used = metricsIn(expr)
    expect(used, expr).not.toEqual([])
    for (const { name, labels } of used) {
      const metric = known.get(name)
      expect(metric, `${name} in ${expr}`).toBeDefined()
      for (const label of labels) expect([...SCRAPED, ...(metric?.labels ?? [])], expr).toContain(label)
    }
    const all = [...SCRAPED, BOUND, ...used.flatMap(({ name }) => known.get(name)?.labels ?? [])]
    for (const label of groupingLabels(expr)) expect(all, expr).toContain(label)
    // A name with an underscore and no matchers is a function, or a metric that `prometheusRule.selector` and `$job`
    // would miss.
    expect(bare(expr).match(/\b\w+_\w+\b(?![{(]| \()/g) ?? [], expr).toEqual([])
  }
})

test('every metric that the operator or an agent shows of its own is in an alert or on the dashboard', () => {
  const used = new Set(expressions.flatMap((expr) => metricsIn(expr).map(({ name }) => name)))
  for (const name of [...known.keys()].filter((name) => name.startsWith('culvert_'))) expect([...used]).toContain(name)
})

test('every alert says what is wrong and what to type, and links to no page that may not be published', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  for (const { alert, labels, annotations } of rules) {
    expect(['critical', 'warning', 'info'], alert).toContain(labels.severity)
    expect(annotations.summary, alert).toMatch(/\.$/)
    expect(annotations.description, alert).toMatch(/`[^`]+`/)
    expect(Object.keys(annotations), alert).toEqual(['summary', 'description'])
  }
})

test('what alerts say names only labels that are left in their expression', () => {
  for (const { alert, expr, annotations } of rules) {
    const dropped = [...expr.matchAll(/\bwithout \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/))
    const texts = Object.values(annotations).join('\n')
    const named = [...texts.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label)
    const own = metricsIn(expr).flatMap(({ name }) => known.get(name)?.labels ?? [])
    // The operator's namespace is a label of its target.
    for (const label of named) {
      expect([...own, 'namespace'], `${alert}: ${label}`).toContain(label)
      expect(dropped, `${alert}: ${label}`).not.toContain(label)
    }
  }
})

test('docs/alerts.md has a row and a section for each alert, in their order', () => {
  const page = read('docs/alerts.md')
  const rows = [...page.matchAll(/^\| \[(\w+)\]\(#(\w+)\) \| (\w+) \| ([^|]+?) \|/gm)]
  const expected = rules.map(({ alert, labels, for: wait }) => [
    alert,
    alert.toLowerCase(),
    labels.severity,
    wait ?? 'immediately',
  ])
  expect(rows.map(([, ...cells]) => cells)).toEqual(expected)
  const sections = [...page.matchAll(/^### (\w+)\n\n([\s\S]+?)(?=\n##|$(?![\s\S]))/gm)]
  expect(sections.map(([, name]) => name)).toEqual(rules.map(({ alert }) => alert))
  for (const [, name, text = ''] of sections) {
    for (const part of ['**Meaning**', '**Check**', '**Do**']) expect(text, name).toContain(part)
  }
})

test('values.schema.json takes changes of each alert', () => {
  const schema = JSON.parse(read('charts/culvert/values.schema.json')) as {
    readonly properties: {
      readonly prometheusRule: { readonly properties: { readonly alerts: { readonly properties: object } } }
    }
  }
  const { properties } = schema.properties.prometheusRule.properties.alerts
  expect(Object.keys(properties)).toEqual(rules.map(({ alert }) => alert))
})

test('every group of the rules has a name of Culvert’s', () => {
  for (const { name, rules: members } of ruleFile().groups) {
    expect(name).toMatch(/^culvert\./)
    expect(members.length).toBeGreaterThan(0)
  }
})

test('an alert on a rate of errors outlasts its range, so that what happened once alerts nobody', () => {
  const lasting = rules.filter(({ expr, for: wait }) => wait !== undefined && /\[\d+m\]/.test(expr))
  expect(lasting.length).toBeGreaterThan(4)
  for (const { alert, expr, for: wait = '' } of lasting) {
    for (const [, minutes] of expr.matchAll(/\[(\d+)m\]/g)) {
      expect(Number.parseInt(wait, 10), alert).toBeGreaterThan(Number(minutes))
    }
  }
})
