import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { alertRules, type RuleFile, ruleFile } from '../builders/monitoring-files.ts'
import { find, HELMS, MODES, merged, type Rendered, render } from './support/helm.ts'
import { CHART } from './support/paths.ts'

const enabled = { prometheusRule: { enabled: true }, dashboard: { enabled: true } }
const values = merged(MODES.cluster, enabled)

it('installs the rules and the dashboard unchanged from their files', async () => {
  const board = await readFile(join(CHART, 'dashboards', 'culvert.json'), 'utf8')
  for (const major of HELMS) {
    const objects = await render(major, values)
    expect(find(objects, 'PrometheusRule', 'culvert')?.spec).toEqual(ruleFile())
    const data = find(objects, 'ConfigMap', 'culvert-dashboard')?.data as Readonly<Record<string, string>> | undefined
    expect(JSON.parse(data?.['culvert.json'] ?? 'null')).toEqual(JSON.parse(board))
  }
})

it('adds the selector to every metric and a threshold to every comparing alert', async () => {
  const compares = alertRules().filter(({ expr }) => /[<>] [\d.]+$/.test(expr))
  expect(compares.length).toBeGreaterThan(10)
  const alerts = Object.fromEntries(compares.map(({ alert }) => [alert, { threshold: 7 }]))
  for (const major of HELMS) {
    const objects = await render(major, merged(values, { prometheusRule: { selector: 'job="a"', alerts } }))
    const { groups } = rulesIn(objects)
    const changed = new Map(groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr])))
    for (const { alert, expr } of alertRules()) {
      const selected = expr.replaceAll('{', '{job="a",')
      expect(changed.get(alert)).toBe(alert in alerts ? selected.replace(/[\d.]+$/, '7') : selected)
    }
  }
})

it('drops a group without alerts', async () => {
  const resources = ruleFile().groups.find(({ name }) => name === 'culvert.resources')?.rules ?? []
  const alerts = Object.fromEntries(resources.map(({ alert }) => [alert, { enabled: false }]))
  for (const major of HELMS) {
    const objects = await render(major, merged(values, { prometheusRule: { alerts } }))
    const { groups } = rulesIn(objects)
    expect(groups.map(({ name }) => name)).toEqual(['culvert.operator', 'culvert.accounts'])
  }
})

function rulesIn(objects: readonly Rendered[]): RuleFile {
  const rule = find(objects, 'PrometheusRule', 'culvert')
  if (rule === undefined) throw new Error('there is no PrometheusRule')
  return rule.spec as RuleFile
}
