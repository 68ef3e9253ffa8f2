import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'
import { freePort } from '../../builders/free-port.ts'
import { KubeProxy } from '../../builders/kube-proxy.ts'
import { alertRules, annotationQueries, panelQueries, ruleFile } from '../../builders/monitoring-files.ts'
import { until } from '../support/wait.ts'
import { World } from '../support/world.ts'
import { fastRules, secondsOf } from './support/fast-rules.ts'
import { checkMetrics, checkRules, type Target, TestPrometheus } from './support/prometheus.ts'
import { quickstartIsReady } from './support/quickstart.ts'
import * as troubles from './support/troubles.ts'

/** A Lease that does not expire while a test runs. */
const LEASE = ['--lease-duration', '30m', '--renew-deadline', '20m', '--retry-period', '300ms']
const rules = fastRules(ruleFile())
/** As many looks as the alert that takes longest needs, and what a busy machine misses. */
const LONG_ENOUGH =
  3 + Math.max(...rules.groups.flatMap((group) => group.rules.map((rule) => secondsOf(rule.for ?? '0s'))))

/** What only the last of the situations brings about, once those before it are over. */
const LATER: ReadonlySet<string> = new Set(['CulvertNoLeader', 'CulvertDown'])
/** What comes of a budget that is used up, for which all workers wait. */
const WAITING: ReadonlySet<string> = new Set(['CulvertRateBudgetExhausted', 'CulvertQueueStalled'])

test('promtool accepts the rules', async () => {
  const { code, text } = await checkRules(
    fileURLToPath(new URL('../../../charts/culvert/files/alerts.yaml', import.meta.url)),
  )
  expect(text).toContain(`SUCCESS: ${alertRules().length} rules found`)
  expect(code).toBe(0)
})

test('promtool accepts the metrics of a leading operator', { tags: 'nightly' }, async () => {
  await using world = await World.open()
  expect(await checkMetrics(await world.operator.metrics())).toEqual({ code: 0, text: '' })
})

// Time runs sixty times faster for the rules (`fastRules`): series of a running operator cannot be had for hours, and
// series that were stretched would no longer be what it shows.
test('no alert fires while the quickstart is healthy; each fires in its situation, and every dashboard query returns data', {
  timeout: 300_000,
  tags: 'nightly',
}, async () => {
  await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
  await using world = await World.open({
    leaderElect: true,
    flags: [...LEASE, '--installation', 'watched'],
    operator: false,
  })
  const [first, second, third] = [await targetOf(world, 1), await targetOf(world, 2), await targetOf(world, 3)]
  await using prometheus = await TestPrometheus.start(rules, [first, second, third])
  await world.startOperator(listenAt(first))
  await quickstartIsReady(world)
  await prometheus.scraped(first)
  await expectNoAlert(prometheus)

  await world.operator.stop()
  await troubles.accountIsClaimed(world)
  await world.startOperator([...listenAt(second), ...troubles.troubledFlags(proxy)])
  await prometheus.scraped(second)
  const troubled = performance.now()
  troubles.watchesFail(proxy)
  await Promise.all([
    troubles.accountsFail(world),
    troubles.keyIsSwapped(world),
    troubles.objectsDrift(world, prometheus),
    troubles.renewalsFail(world),
    troubles.callsAreTooMany(world),
    troubles.editsFail(world),
    troubles.statusesFail(world, proxy),
  ])
  await expectFired(prometheus, troubled, (alert) => !LATER.has(alert) && !WAITING.has(alert))
  await troubles.budgetIsUsedUp(world)
  await expectFired(prometheus, troubled, (alert) => !LATER.has(alert))
  await expectData(prometheus)
  await expectTexts(prometheus)

  await world.operator.kill()
  await world.startOperator(listenAt(third), 'serving')
  await prometheus.scraped(third)
  await expectFired(prometheus, performance.now(), (alert) => alert === 'CulvertNoLeader')
  await world.operator.kill()
  await expectFired(prometheus, performance.now(), (alert) => alert === 'CulvertDown')
})

/** A Pod to come, as the chart's ServiceMonitor has Prometheus find it. */
async function targetOf({ operatorNamespace: namespace }: World, pod: number): Promise<Target> {
  const labels = { job: 'culvert', service: 'culvert', endpoint: 'http', container: 'operator' }
  return { address: `127.0.0.1:${await freePort()}`, labels: { ...labels, namespace, pod: `culvert-${pod}` } }
}

function listenAt({ address }: Target): readonly string[] {
  return ['--listen', address]
}

async function expectNoAlert(prometheus: TestPrometheus): Promise<void> {
  const began = performance.now()
  // A scrape that a busy machine missed is no matter of the operator: then the time begins again.
  const window = LONG_ENOUGH + 1
  const looks = `count_over_time(culvert_build_info{}[${window}s]) >= ${LONG_ENOUGH}`
  const seenEnough = async (): Promise<boolean> => {
    return performance.now() - began > window * 1000 && (await prometheus.query(looks)).length === 1
  }
  await until('Prometheus has looked long enough', seenEnough, { timeoutMs: 120_000 })
  // What was pending while all of this began is over.
  expect(await prometheus.query('ALERTS')).toEqual([])
  expect(await prometheus.fired(LONG_ENOUGH - 3)).toEqual(new Set())
}

/** Waits until the alerts that are meant have fired after `since`, a time of `performance`. */
async function expectFired(
  prometheus: TestPrometheus,
  since: number,
  isMeant: (alert: string) => boolean,
): Promise<void> {
  const meant = alertRules()
    .map(({ alert }) => alert)
    .filter(isMeant)
  const missing = async () => {
    const fired = await prometheus.fired(Math.max(1, Math.floor((performance.now() - since) / 1000)))
    return meant.filter((alert) => !fired.has(alert))
  }
  expect(meant).not.toEqual([])
  await until('the alerts fire', async () => (await missing()).length === 0, { timeoutMs: 90_000, describe: missing })
}

/** It takes two namespaces, and the operator watches one here: `test/hostile/tenants/borders` asks for it. */
const OF_TWO_NAMESPACES = /culvert_deletion_held_up/

/** No agent runs here; the contract suite checks the metrics of one. */
const OF_AGENTS = /culvert_agent_/

/** No other query is left out: all situations exist that a panel tells of. */
async function expectData(prometheus: TestPrometheus): Promise<void> {
  const empty: string[] = []
  for (const { panel, expr } of panelQueries().filter(
    (each) => ![OF_TWO_NAMESPACES, OF_AGENTS].some((not) => not.test(each.expr)),
  )) {
    // A zero in the place of nothing would be there whatever stands before it.
    const series = await prometheus.query(filledIn(expr).replace(/ or vector\(0\)$/, ''))
    if (!series.some(({ value }) => Number.isFinite(value))) empty.push(`${panel}: ${expr}`)
  }
  expect(empty).toEqual([])
  // What marks a moment exists around that moment only: an upgrade, or the first version in its first two minutes.
  for (const { expr } of annotationQueries()) await prometheus.query(filledIn(expr))
}

/** The person on call reads whole sentences. */
async function expectTexts(prometheus: TestPrometheus): Promise<void> {
  const alerts = await prometheus.alerts()
  expect(alerts.length).toBeGreaterThan(15)
  for (const { labels, annotations } of alerts) {
    for (const text of Object.values(annotations)) {
      expect(text, labels.alertname).not.toMatch(/<error|<no value>|\{\{|%!| {2}| [.,:]|-n [`.]|\/ /)
    }
  }
}

/** A query as Grafana sends it. */
function filledIn(expr: string): string {
  return expr.replaceAll('$job', '.+').replaceAll('$__rate_interval', '60s')
}
