import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import { type KubeManifest, KubeUser, type RequestSettings } from '../../cluster/support/kube-user.ts'
import { until } from '../../cluster/support/wait.ts'

const RULES = new URL('../../../charts/culvert/files/rbac/', import.meta.url)
const RBAC = 'rbac.authorization.k8s.io'

/** A rule of a Role. */
export interface Right {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

/** A user with the rights of the chart's user roles in one namespace, and no others in the cluster. */
export class Author implements Disposable {
  readonly #cluster: ControlPlane
  readonly #user: KubeUser
  readonly name: string
  readonly namespace: string

  private constructor(cluster: ControlPlane, user: KubeUser, { name, namespace }: AuthorOptions) {
    this.#cluster = cluster
    this.#user = user
    this.name = name
    this.namespace = namespace
  }

  static async create(cluster: ControlPlane, options: AuthorOptions): Promise<Author> {
    const { name, admin = false } = options
    const author = new Author(cluster, await KubeUser.of(cluster.kubeconfigPath, name), options)
    for (const role of ['view', 'edit', ...(admin ? ['admin'] : [])]) {
      const text = await readFile(new URL(`user-${role}.yaml`, RULES), 'utf8')
      await author.grant(role, (parse(text) as { readonly rules: readonly Right[] }).rules)
    }
    await until(`${name} may write`, () => author.can('create', 'reserveddomains.culvert.dev'))
    return author
  }

  [Symbol.dispose](): void {
    this.#user[Symbol.dispose]()
  }

  /** Grants further rights in the namespace, with a name that `revoke` takes. */
  async grant(right: string, rules: readonly Right[]): Promise<void> {
    const metadata = { name: `${this.name}-${right}`, namespace: this.namespace }
    const apiVersion = `${RBAC}/v1`
    const subjects = [{ apiGroup: RBAC, kind: 'User', name: this.name }]
    const roleRef = { apiGroup: RBAC, kind: 'Role', name: metadata.name }
    const items = [
      { apiVersion, kind: 'Role', metadata, rules },
      { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects },
    ]
    const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
    const { code, stderr } = await this.#cluster.kubectl(['apply', '--server-side', '-f', '-'], { stdin })
    if (code !== 0) throw new Error(`kubectl apply failed: ${stderr}`)
  }

  async revoke(right: string): Promise<void> {
    const args = ['delete', 'rolebinding', `${this.name}-${right}`, '-n', this.namespace]
    const { code, stderr } = await this.#cluster.kubectl(args)
    if (code !== 0) throw new Error(`kubectl delete failed: ${stderr}`)
  }

  /** Whether this user has a right in the namespace: see `KubeUser.can`. */
  can(verb: string, what: string): Promise<boolean> {
    return this.#user.can(verb, what, this.namespace)
  }

  /** As all that follow, an empty text if that is allowed, otherwise the API server's message. */
  create(manifest: KubeManifest): Promise<string> {
    return this.#user.create(manifest)
  }

  /** Whether this user may create an object, by a dry run. */
  creating(manifest: KubeManifest, settings?: RequestSettings): Promise<string> {
    return this.#user.creating(manifest, settings)
  }

  /** A merge patch of the object of that kind and name. */
  patch(kind: string, name: string, body: object, settings?: RequestSettings): Promise<string> {
    return this.#user.patch(this.manifest(kind, name, {}), body, settings)
  }

  delete(kind: string, name: string): Promise<string> {
    return this.#user.delete(this.manifest(kind, name, {}))
  }

  /** A resource of Culvert in the namespace. */
  manifest(kind: string, name: string, spec: object): KubeManifest {
    const metadata = { name, namespace: this.namespace }
    return { apiVersion: 'culvert.dev/v1alpha1', kind, metadata, spec }
  }
}

interface AuthorOptions {
  readonly name: string
  readonly namespace: string
  /** Whether they have the role `admin` besides `view` and `edit`. Default: false. */
  readonly admin?: boolean
}
