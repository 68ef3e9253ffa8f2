import { kinds } from '../../../src/kinds/index.ts'
import { type ClosableKubeClient, createKubeClient } from '../../../src/kube/client.ts'
import { KubeError } from '../../../src/kube/kube-error.ts'
import { loadKubeConnection } from '../../../src/kube/load-config.ts'
import type { KubeObject, ResourceType } from '../../../src/kube/types.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { generatedRules, OperatorAccount } from '../../cluster/support/operator-account.ts'
import { until } from '../../cluster/support/wait.ts'
import { core, typeOf, type World } from '../../cluster/support/world.ts'

const RBAC = 'rbac.authorization.k8s.io'
const EVENTS: ResourceType = {
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
}
const NAME = 'viewer'

/** The rights of Kubernetes' own role `view`, as far as a world has such objects, in addition to the chart's. */
const VIEW = [
  { apiGroups: [''], resources: ['configmaps', 'serviceaccounts', 'events', 'pods'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['get', 'list', 'watch'] },
]

/** A user who may view the world's namespace, by the chart's role and Kubernetes' own, but none of its Secrets. */
export class Viewer implements AsyncDisposable {
  readonly #world: World
  readonly #kube: ClosableKubeClient
  readonly #account: OperatorAccount

  private constructor(world: World, kube: ClosableKubeClient, account: OperatorAccount) {
    this.#world = world
    this.#kube = kube
    this.#account = account
  }

  static async create(world: World): Promise<Viewer> {
    const { kube, kubeconfig, namespace } = world
    const account = await OperatorAccount.ofNobody({ kube, kubeconfig, namespace, name: NAME })
    const rules = [...VIEW, ...(await generatedRules('user-view'))]
    const [roles, roleBindings] = [rbac('roles', 'Role'), rbac('rolebindings', 'RoleBinding')]
    await kube.apply(roles, { namespace, name: NAME }, { rules })
    const subjects = [{ kind: 'ServiceAccount', name: NAME, namespace }]
    const roleRef = { apiGroup: RBAC, kind: 'Role', name: NAME }
    await kube.apply(roleBindings, { namespace, name: NAME }, { roleRef, subjects })
    const connection = loadKubeConnection({ kubeconfig: account.kubeconfigFor(kubeconfig) })
    const client = createKubeClient({ connection, clock: systemClock, random: systemRandom, userAgent: 'viewer' })
    const viewer = new Viewer(world, client, account)
    await until('the viewer may view', () => viewer.#isAllowed(typeOf('Account')))
    return viewer
  }

  /** Everything visible, as text: resources, Events, ConfigMaps. @throws if Secrets are visible, too */
  async sees(): Promise<string> {
    for (const namespace of [this.#world.namespace, this.#world.operatorNamespace]) {
      if (await this.#isAllowed(core('secrets', 'Secret'), namespace))
        throw new Error(`Secrets of ${namespace} are seen`)
    }
    const namespaced = kinds.filter(({ definition }) => definition.scope === 'Namespaced')
    const types = [
      ...namespaced.map(({ definition }) => typeOf(definition.kind)),
      EVENTS,
      core('configmaps', 'ConfigMap'),
    ]
    const { namespace } = this.#world
    const found: KubeObject[] = []
    for (const type of types) found.push(...(await this.#kube.list<KubeObject>(type, { namespace })).items)
    return JSON.stringify(found)
  }

  async #isAllowed(type: ResourceType, namespace = this.#world.namespace): Promise<boolean> {
    try {
      await this.#kube.list(type, { namespace, limit: 1 })
      return true
    } catch (error) {
      if (error instanceof KubeError && error.code === 'Forbidden') return false
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kube.close()
    await this.#account[Symbol.asyncDispose]()
  }
}

function rbac(plural: string, kind: string): ResourceType {
  return { group: RBAC, version: 'v1', plural, kind, namespaced: true }
}
