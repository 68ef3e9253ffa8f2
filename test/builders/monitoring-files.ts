import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

/** An alert in a Prometheus rule file. */
export interface AlertRule {
  readonly alert: string
  readonly expr: string
  /** How long the expression holds before the alert fires. Default: at once. */
  readonly for?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<'summary' | 'description', string>>
}

/** A rule file. */
export interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly AlertRule[] }[]
}

/** One query of a panel of the dashboard. */
export interface PanelQuery {
  readonly panel: string
  readonly expr: string
}

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[]
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr: string }[] }
}

/** A metric in an expression, with the label names in its matchers. */
export interface UsedMetric {
  readonly name: string
  readonly labels: readonly string[]
}

/** The alerts of the chart. */
export function ruleFile(): RuleFile {
  return parse(read('files/alerts.yaml')) as RuleFile
}

export function alertRules(): readonly AlertRule[] {
  return ruleFile().groups.flatMap(({ rules }) => rules)
}

/** The queries of the chart's dashboard, except its annotations. */
export function panelQueries(): readonly PanelQuery[] {
  return dashboard().panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ panel: title, expr })))
}

/** Queries that mark moments in all panels. */
export function annotationQueries(): readonly PanelQuery[] {
  return dashboard().annotations.list.map(({ name, expr }) => ({ panel: name, expr }))
}

/** Every metric of an expression whose metrics all have matchers; series of a histogram count as the histogram. */
export function metricsIn(expr: string): readonly UsedMetric[] {
  return [...expr.matchAll(/(\w+)\{([^}]*)\}/g)].map(([, name = '', matchers = '']) => ({
    name: name.replace(/_(bucket|sum|count)$/, ''),
    labels: [...matchers.matchAll(/(\w+)\s*[=!]~?/g)].map(([, label = '']) => label),
  }))
}

/** The labels that an expression groups or joins by. */
export function groupingLabels(expr: string): readonly string[] {
  const lists = [...expr.matchAll(/\b(?:by|without|on) \(([^)]*)\)/g)]
  return lists.flatMap(([, list = '']) => list.split(',').map((label) => label.trim()))
}

function dashboard(): Dashboard {
  return JSON.parse(read('dashboards/culvert.json')) as Dashboard
}

function read(path: string): string {
  return readFileSync(new URL(`../../charts/culvert/${path}`, import.meta.url), 'utf8')
}
