import { createPrivateKey, sign } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { metricsAuthenticationPermissions } from '../../../scripts/permissions/operator.ts'
import type { KubeClient, ResourceType } from '../../../src/kube/types.ts'
import { rulesOf } from '../../../src/managed/permissions.ts'
import { tokenOf } from '../../cluster/support/operator-account.ts'
import { core, type World } from '../../cluster/support/world.ts'

const RBAC = 'rbac.authorization.k8s.io'
const serviceAccounts = core('serviceaccounts', 'ServiceAccount')
const clusterRoles = rbacType('clusterroles', 'ClusterRole')
const clusterRoleBindings = rbacType('clusterrolebindings', 'ClusterRoleBinding')
/** The issuer name of the test apiserver. */
const ISSUER = 'https://kubernetes.default.svc'

/** A right in the whole cluster; withdrawn when disposed of. */
export class ClusterGrant implements AsyncDisposable {
  readonly #kube: KubeClient
  readonly #name: string

  private constructor(kube: KubeClient, name: string) {
    this.#kube = kube
    this.#name = name
  }

  /** The chart's rights for the operator with `metrics.authentication.enabled`. */
  static async ofOperator({ kube, operatorNamespace: namespace }: World): Promise<ClusterGrant> {
    const rules = rulesOf(metricsAuthenticationPermissions)
    return ClusterGrant.#make(kube, `${namespace}-metrics`, { rules, subject: { namespace, name: 'culvert' } })
  }

  /** The chart's rights for `metrics.authentication.readers`. */
  static async ofReader({ kube, namespace }: World, name: string): Promise<ClusterGrant> {
    const rules = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]
    return ClusterGrant.#make(kube, `${namespace}-${name}-reader`, { rules, subject: { namespace, name } })
  }

  static async #make(
    kube: KubeClient,
    name: string,
    { rules, subject }: { readonly rules: readonly object[]; readonly subject: object },
  ): Promise<ClusterGrant> {
    await kube.apply(clusterRoles, { name }, { rules })
    const subjects = [{ kind: 'ServiceAccount', ...subject }]
    await kube.apply(
      clusterRoleBindings,
      { name },
      { roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name }, subjects },
    )
    return new ClusterGrant(kube, name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const type of [clusterRoleBindings, clusterRoles]) await this.#kube.delete(type, { name: this.#name })
  }
}

/** A ServiceAccount of the world's namespace. */
export class Reader {
  readonly name: string
  readonly #world: World
  readonly #uid: string

  private constructor(world: World, name: string, uid: string) {
    this.name = name
    this.#world = world
    this.#uid = uid
  }

  static async create(world: World, name: string): Promise<Reader> {
    const made = await world.kube.apply(serviceAccounts, { namespace: world.namespace, name }, {})
    return new Reader(world, name, made.metadata.uid)
  }

  /** As a Pod gets it. */
  token(audiences?: readonly string[]): Promise<string> {
    return tokenOf(this.#world.kubeconfig, this.#world.namespace, this.name, audiences)
  }

  /** A token signed with the apiserver's own key, valid for that many seconds from now; expired if negative. */
  async signed(seconds: number): Promise<string> {
    const key = createPrivateKey(await readFile(join(dirname(this.#world.kubeconfig), 'service-account.key')))
    const now = Math.floor(Date.now() / 1000)
    const { namespace } = this.#world
    const claims = {
      iss: ISSUER,
      aud: [ISSUER],
      sub: `system:serviceaccount:${namespace}:${this.name}`,
      iat: now - 7200,
      nbf: now - 7200,
      exp: now + seconds,
      'kubernetes.io': { namespace, serviceaccount: { name: this.name, uid: this.#uid } },
    }
    const text = [{ alg: 'ES256', typ: 'JWT' }, claims].map((part) => base64url(JSON.stringify(part))).join('.')
    const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
    return `${text}.${signature.toString('base64url')}`
  }

  async delete(): Promise<void> {
    await this.#world.kube.delete(serviceAccounts, { namespace: this.#world.namespace, name: this.name })
  }
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}

function rbacType(plural: string, kind: string): ResourceType {
  return { group: RBAC, version: 'v1', plural, kind, namespaced: false }
}
