import { expect } from 'vitest'
import { object, type Sight, type ValueCase } from './case.ts'

const ruled = { prometheusRule: { enabled: true } }
const shown = { dashboard: { enabled: true } }

/** Expectation for one alert of the PrometheusRule. */
const alert = (name: string, like: Readonly<Record<string, unknown>>): Sight => {
  const rules = expect.arrayContaining([expect.objectContaining({ alert: name, ...like })])
  return object('PrometheusRule', 'culvert', {
    spec: { groups: expect.arrayContaining([{ name: expect.any(String), rules }]) },
  })
}
const labels = (like: Readonly<Record<string, string>>) => ({ labels: expect.objectContaining(like) })
const annotations = (like: Readonly<Record<string, string>>) => ({ annotations: expect.objectContaining(like) })
const configMap = (metadata: object): Sight => object('ConfigMap', 'culvert-dashboard', { metadata })

/** Values of the alerts and the dashboard. */
export const monitoringCases: readonly ValueCase[] = [
  {
    path: 'prometheusRule.enabled',
    to: true,
    sees: [
      alert('CulvertDown', { expr: 'absent(culvert_build_info{})', for: '5m', ...labels({ severity: 'critical' }) }),
    ],
  },
  {
    path: 'prometheusRule.namespace',
    to: 'monitoring',
    beside: ruled,
    sees: [object('PrometheusRule', 'culvert', { metadata: { namespace: 'monitoring' } })],
  },
  {
    path: 'prometheusRule.labels',
    to: { release: 'p' },
    beside: ruled,
    sees: [object('PrometheusRule', 'culvert', { metadata: { labels: { release: 'p' } } })],
  },
  {
    path: 'prometheusRule.selector',
    to: 'job="tunnels"',
    beside: ruled,
    sees: [
      alert('CulvertDown', { expr: 'absent(culvert_build_info{job="tunnels",})' }),
      alert('CulvertQueueStalled', { expr: expect.stringContaining('{job="tunnels",name="culvert"}') }),
    ],
  },
  {
    path: 'prometheusRule.ruleLabels',
    to: { team: 'edge' },
    beside: ruled,
    sees: [
      alert('CulvertDown', labels({ team: 'edge', severity: 'critical' })),
      alert('CulvertOrphans', labels({ team: 'edge', severity: 'info' })),
    ],
  },
  {
    path: 'prometheusRule.ruleAnnotations',
    to: { board: 'https://grafana.example.com/d/culvert' },
    beside: ruled,
    sees: [alert('CulvertDown', annotations({ board: 'https://grafana.example.com/d/culvert' }))],
  },
  {
    path: 'prometheusRule.runbookURL',
    to: 'https://runbooks.example.com/culvert',
    beside: ruled,
    sees: [
      alert('CulvertOrphans', annotations({ runbook_url: 'https://runbooks.example.com/culvert#culvertorphans' })),
    ],
  },
  {
    path: 'prometheusRule.alerts',
    to: {
      CulvertDown: { enabled: false },
      CulvertOrphans: { for: '1h', severity: 'warning' },
      CulvertRateBudgetExhausted: { threshold: 120.5 },
    },
    beside: ruled,
    sees: [
      alert('CulvertOrphans', { for: '1h', ...labels({ severity: 'warning' }) }),
      alert('CulvertRateBudgetExhausted', { expr: expect.stringMatching(/> 120\.5$/), for: '10m' }),
      object('PrometheusRule', 'culvert', {
        spec: {
          groups: expect.arrayContaining([
            {
              name: 'culvert.operator',
              rules: expect.not.arrayContaining([expect.objectContaining({ alert: 'CulvertDown' })]),
            },
          ]),
        },
      }),
    ],
  },
  {
    path: 'dashboard.enabled',
    to: true,
    sees: [
      object('ConfigMap', 'culvert-dashboard', {
        metadata: { namespace: 'culvert-system', labels: { grafana_dashboard: '1' } },
        data: { 'culvert.json': expect.stringContaining('"uid": "culvert"') },
      }),
    ],
  },
  { path: 'dashboard.namespace', to: 'monitoring', beside: shown, sees: [configMap({ namespace: 'monitoring' })] },
  { path: 'dashboard.label', to: 'board', beside: shown, sees: [configMap({ labels: { board: '1' } })] },
  {
    path: 'dashboard.labelValue',
    to: 'yes',
    beside: shown,
    sees: [configMap({ labels: { grafana_dashboard: 'yes' } })],
  },
  {
    path: 'dashboard.folder',
    to: 'Edge',
    beside: shown,
    sees: [configMap({ annotations: { grafana_folder: 'Edge' } })],
  },
  {
    path: 'dashboard.folderAnnotation',
    to: 'k8s-sidecar-target-directory',
    beside: { dashboard: { ...shown.dashboard, folder: 'Edge' } },
    sees: [configMap({ annotations: { 'k8s-sidecar-target-directory': 'Edge' } })],
  },
]
