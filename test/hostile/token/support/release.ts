import { runProgram } from '../../../../controlplane/run-program.ts'
import type { KubeClient, ResourceType } from '../../../../src/kube/types.ts'
import { holdName } from '../../../../src/managed/accounts/namespace-hold.ts'
import { merged, objectsIn, RELEASE, type Rendered, templateArgs, type Values } from '../../../chart/support/helm.ts'
import { toolPath } from '../../../chart/support/tools.ts'
import { OperatorAccount } from '../../../cluster/support/operator-account.ts'
import { until } from '../../../cluster/support/wait.ts'
import type { World } from '../../../cluster/support/world.ts'
import { type Attempt, lease, roleBinding, secret } from './attempt.ts'
import { TokenHolder } from './token-holder.ts'

/** Without what concerns other users than the operator, which would be in force in the whole cluster. */
const OF_OPERATOR = {
  crds: { install: false },
  rbac: { userRoles: false },
  admissionPolicy: { access: { enabled: false } },
}

const GROUPS = /^(rbac\.authorization|admissionregistration)\.k8s\.io\//

/** The operator's ServiceAccount with the roles and the admission policy of a release, as Helm renders the chart. */
export class Release implements AsyncDisposable {
  /** Has the token of the ServiceAccount. */
  readonly holder: TokenHolder
  readonly #kube: KubeClient
  readonly #objects: readonly Rendered[]
  readonly #account: OperatorAccount

  private constructor(kube: KubeClient, objects: readonly Rendered[], account: OperatorAccount, holder: TokenHolder) {
    this.holder = holder
    this.#kube = kube
    this.#objects = objects
    this.#account = account
  }

  /**
   * Installs it in a namespace; returns once the API server knows the roles. `watchNamespaces` of the values is empty
   * or has the world's namespace.
   */
  static async install(world: World, namespace: string, values: Values): Promise<Release> {
    const { kube, kubeconfig } = world
    await world.createNamespace(namespace)
    const objects = (await rendered(namespace, values)).filter(({ apiVersion }) => GROUPS.test(apiVersion))
    for (const object of objects) await kube.apply(typeOf(object), object.metadata, object)
    const account = await OperatorAccount.ofNobody({ kube, kubeconfig, namespace, name: RELEASE })
    const holder = await TokenHolder.of(account.kubeconfigFor(kubeconfig))
    const hold = objects.find(
      ({ kind, metadata }) => kind === 'RoleBinding' && metadata.name === holdName(namespace, RELEASE),
    )
    const asks: readonly Attempt[] = [
      { verb: 'create', on: lease(namespace, RELEASE) },
      { verb: 'create', on: secret(world.namespace, 'any') },
      ...(hold === undefined ? [] : [{ verb: 'merge', on: roleBinding(world.namespace, hold.metadata.name) } as const]),
    ]
    for (const ask of asks) await until('the rights of the release are known', () => holder.canI(ask))
    return new Release(kube, objects, account, holder)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.holder[Symbol.dispose]()
    for (const object of this.#objects) {
      if (object.metadata.namespace === undefined) await this.#kube.delete(typeOf(object), object.metadata)
    }
    await this.#account[Symbol.asyncDispose]()
  }
}

async function rendered(namespace: string, values: Values): Promise<readonly Rendered[]> {
  const helm = await toolPath('helm4', (message) => console.error(message))
  const args = [...templateArgs(namespace), '--no-hooks', '--values', '-']
  const { code, stdout, stderr } = await runProgram(helm, args, { stdin: JSON.stringify(merged(OF_OPERATOR, values)) })
  if (code !== 0) throw new Error(`helm template failed: ${stderr}`)
  return objectsIn(stdout)
}

function typeOf({ apiVersion, kind, metadata }: Rendered): ResourceType {
  const [group = '', version = ''] = apiVersion.split('/')
  const plural = `${kind.toLowerCase()}s`.replace(/ys$/, 'ies')
  return { group, version, plural, kind, namespaced: metadata.namespace !== undefined }
}
