import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { runProgram } from '../../../../controlplane/run-program.ts'
import { freePort } from '../../../builders/free-port.ts'
import type { RuleFile } from '../../../builders/monitoring-files.ts'
import { pathOfProgram, requirePrograms } from '../../../builders/system-programs.ts'
import { until } from '../../support/wait.ts'

/** One series that a query came to. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>
  readonly value: number
}

/** An alert that is pending or fires. */
export interface ActiveAlert {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** What to scrape: where it serves, and the labels that service discovery gives it. */
export interface Target {
  readonly address: string
  readonly labels: Readonly<Record<string, string>>
}

/** Debian's package of both programs. Its service is not needed, and nothing here relies on whether it runs. */
const PACKAGE = { prometheus: 'prometheus', promtool: 'prometheus' }

/** Judges a rule file; resolves to what promtool says. */
export async function checkRules(path: string): Promise<{ readonly code: number; readonly text: string }> {
  const { code, stdout, stderr } = await runProgram(await program('promtool'), ['check', 'rules', path])
  return { code, text: stdout + stderr }
}

/** Judges the names and help texts of a page of metrics; resolves to what promtool says. */
export async function checkMetrics(page: string): Promise<{ readonly code: number; readonly text: string }> {
  const { code, stdout, stderr } = await runProgram(await program('promtool'), ['check', 'metrics'], { stdin: page })
  return { code, text: stdout + stderr }
}

/** A real Prometheus with rules, on a free port of the loopback, which scrapes and judges every second. */
export class TestPrometheus implements AsyncDisposable {
  readonly #folder: string
  readonly #child: ChildProcess
  readonly #url: string
  readonly #endWithUs = (): void => void this.#child.kill('SIGKILL')
  #log = ''

  private constructor(folder: string, child: ChildProcess, url: string) {
    this.#folder = folder
    this.#child = child
    this.#url = url
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#log += chunk.toString()
    })
    process.once('exit', this.#endWithUs)
  }

  /**
   * Scrapes the targets whenever somebody serves there: which ones are asked is known from the start, since Prometheus
   * takes five seconds to note a change.
   */
  static async start(rules: RuleFile, targets: readonly Target[]): Promise<TestPrometheus> {
    const path = await program('prometheus')
    const folder = await mkdtemp(join(tmpdir(), 'culvert-prometheus-'))
    await writeFile(join(folder, 'alerts.yaml'), stringify(rules))
    await writeFile(join(folder, 'prometheus.yaml'), stringify(configuration(folder, targets)))
    const address = `127.0.0.1:${await freePort()}`
    const flags = [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--log.level=warn',
    ]
    const child = spawn(path, flags, { stdio: ['ignore', 'ignore', 'pipe'] })
    const prometheus = new TestPrometheus(folder, child, `http://${address}`)
    await until('Prometheus is ready', () => prometheus.#isReady(), { describe: () => prometheus.#log })
    return prometheus
  }

  /** Resolves once this target was scraped. */
  async scraped({ address }: Target): Promise<void> {
    const up = `up{instance="${address}"} == 1`
    await until('the operator is scraped', async () => (await this.query(up)).length === 1, {
      describe: () => this.#log,
    })
  }

  /** The series that an expression comes to now. @throws Error when Prometheus refuses it */
  async query(expr: string): Promise<readonly Series[]> {
    const { result } = await this.#ask<VectorData>(`query?${new URLSearchParams({ query: expr })}`)
    return result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }))
  }

  /** The alerts that are pending or fire now, with their texts. */
  async alerts(): Promise<readonly ActiveAlert[]> {
    return (await this.#ask<{ readonly alerts: readonly ActiveAlert[] }>('alerts')).alerts
  }

  /** Names of the alerts that fired within the last `seconds`. */
  async fired(seconds: number): Promise<ReadonlySet<string>> {
    const series = await this.query(`max_over_time(ALERTS{alertstate="firing"}[${seconds}s])`)
    return new Set(series.map(({ metric }) => metric.alertname ?? ''))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#endWithUs)
    const ended = once(this.#child, 'exit')
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGKILL')
      await ended
    }
    await rm(this.#folder, { recursive: true })
  }

  async #ask<Data>(path: string): Promise<Data> {
    const response = await fetch(`${this.#url}/api/v1/${path}`)
    const { error, data } = (await response.json()) as { readonly error?: string; readonly data?: Data }
    if (data === undefined) throw new Error(`${path}: ${error}`)
    return data
  }

  async #isReady(): Promise<boolean> {
    if (this.#child.exitCode !== null) throw new Error(`Prometheus ended:\n${this.#log}`)
    return fetch(`${this.#url}/-/ready`).then(
      ({ status }) => status === 200,
      () => false,
    )
  }
}

interface VectorData {
  readonly result: readonly {
    readonly metric: Readonly<Record<string, string>>
    readonly value: readonly [time: number, value: string]
  }[]
}

/** Scrapes as the ServiceMonitor of the chart asks for. */
function configuration(folder: string, targets: readonly Target[]): object {
  return {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [join(folder, 'alerts.yaml')],
    scrape_configs: [
      {
        job_name: 'culvert',
        honor_labels: true,
        static_configs: targets.map(({ address, labels }) => ({ targets: [address], labels })),
      },
    ],
  }
}

async function program(name: keyof typeof PACKAGE): Promise<string> {
  await requirePrograms(PACKAGE)
  const path = await pathOfProgram(name)
  if (path === undefined) throw new Error(`${name} is missing`)
  return path
}
