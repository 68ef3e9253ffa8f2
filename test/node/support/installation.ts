import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CHART } from '../../chart/support/paths.ts'
import { toolPath } from '../../chart/support/tools.ts'
import type { ProgramResult } from '../../controlplane/run-program.ts'
import { NodeError } from '../errors.ts'
import type { KubernetesNode } from '../node.ts'

/** Name of the release. */
export const RELEASE = 'culvert'
/** Where it is installed. */
export const NAMESPACE = 'culvert-system'

/** Values of the chart, as values.yaml has them. */
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

  /** Packages the chart as a release does. */
  static async prepare(node: KubernetesNode, onProgress: (message: string) => void): Promise<Installation> {
    const helm = await toolPath('helm4', onProgress)
    const home = join(node.folder.path, 'helm')
    await mkdir(home)
    const said = await node.namespace.output(helm, ['package', CHART, '--destination', home])
    const [, chart = ''] = /saved it to: (\S+)/.exec(said) ?? []
    return new Installation(node, helm, home, chart)
  }

  /** Runs Helm in the release's namespace, whatever comes of it; `values` go in as a file. */
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

  /** The same for its output. @throws NodeError with what Helm said */
  async helm(args: readonly string[], values?: Values): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, values)
    if (code !== 0)
      throw new NodeError('COMMAND_FAILED', `helm ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`)
    return stdout
  }
}
