import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { OnProgress } from '../../../controlplane/build-progress.ts'
import type { ProgramResult } from '../../../controlplane/run-program.ts'
import { CHART } from '../../chart/support/paths.ts'
import { toolPath } from '../../chart/support/tools.ts'
import { until } from '../../cluster/support/wait.ts'
import { NodeError } from '../errors.ts'
import type { KubernetesNode } from '../node.ts'

/** Name of the release. */
export const RELEASE = 'culvert'
/** Its namespace. */
export const NAMESPACE = 'culvert-system'

/** API key of the chart's emulator. */
export const API_KEY = 'key-of-the-node-suite'
/** URL of that emulator. */
export const EMULATOR = `http://${RELEASE}-emulator.${NAMESPACE}.svc:4040`

/** The project's image, which is not in any registry, and the emulator next to the operator. */
const VALUES: Values = {
  image: { repository: 'localhost/culvert', tag: 'test', pullPolicy: 'Never' },
  emulator: { enabled: true, apiKey: API_KEY, extraArgs: ['--cert-seconds', '1'] },
  metrics: { authentication: { enabled: true } },
}

/** Values of the chart, as in values.yaml. */
export type Values = { readonly [name: string]: unknown }

/** The packaged chart and the Helm that installs it on a node. */
export class Installation {
  /** The package: `culvert-<version>.tgz`. */
  readonly chart: string
  readonly #node: KubernetesNode
  readonly #helm: string
  readonly #home: string

  private constructor(node: KubernetesNode, helm: string, home: string, chart: string) {
    this.#node = node
    this.#helm = helm
    this.#home = home
    this.chart = chart
  }

  /** Packages the chart as a release does, and creates its namespace, which refuses Pods that are not `restricted`. */
  static async prepare(node: KubernetesNode, major: 3 | 4, onProgress: OnProgress): Promise<Installation> {
    const helm = await toolPath(`helm${major}`, onProgress)
    const home = join(node.folder.path, 'helm')
    await mkdir(home)
    const said = await node.namespace.output(helm, ['package', CHART, '--destination', home])
    const [, chart = ''] = /saved it to: (\S+)/.exec(said) ?? []
    await node.kubectlOutput(['create', 'namespace', NAMESPACE])
    const restricted = 'pod-security.kubernetes.io/enforce=restricted'
    await node.kubectlOutput(['label', 'namespace', NAMESPACE, restricted])
    await until('the namespace has its ServiceAccount', async () => {
      return (await node.kubectl(['-n', NAMESPACE, 'get', 'serviceaccount', 'default'])).code === 0
    })
    return new Installation(node, helm, home, chart)
  }

  /** Installs with Helm's `--wait`; `further` values take the place of the suite's. */
  async install(further: Values = {}): Promise<void> {
    await this.helm(['install', RELEASE, this.chart, '--wait', '--timeout', '4m'], { ...VALUES, ...further })
  }

  /** Runs Helm in the release's namespace and returns the result, even if it fails; `values` are passed as a file. */
  run(args: readonly string[], values?: Values): Promise<ProgramResult> {
    const file = values === undefined ? [] : ['--values', '-']
    return this.#node.namespace.run(this.#helm, [...args, '--namespace', NAMESPACE, ...file], {
      env: {
        ...process.env,
        KUBECONFIG: this.#node.kubeconfig,
        HELM_CACHE_HOME: this.#home,
        HELM_CONFIG_HOME: this.#home,
        HELM_DATA_HOME: this.#home,
      },
      ...(values === undefined ? {} : { stdin: JSON.stringify(values) }),
    })
  }

  /** The same; returns its output. @throws NodeError with Helm's message */
  async helm(args: readonly string[], values?: Values): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, values)
    if (code !== 0)
      throw new NodeError('COMMAND_FAILED', `helm ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`)
    return stdout
  }
}
