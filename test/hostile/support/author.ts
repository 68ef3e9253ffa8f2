import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
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
export class Author {
  readonly #cluster: ControlPlane
  readonly name: string
  readonly namespace: string

  private constructor(cluster: ControlPlane, name: string, namespace: string) {
    this.#cluster = cluster
    this.name = name
    this.namespace = namespace
  }

  /** A user with `view` and `edit`, and `admin` if asked for. */
  static async create(
    cluster: ControlPlane,
    { name, namespace, admin = false }: { readonly name: string; readonly namespace: string; readonly admin?: boolean },
  ): Promise<Author> {
    const author = new Author(cluster, name, namespace)
    for (const role of ['view', 'edit', ...(admin ? ['admin'] : [])]) {
      const text = await readFile(new URL(`user-${role}.yaml`, RULES), 'utf8')
      await author.grant(role, (parse(text) as { readonly rules: readonly Right[] }).rules)
    }
    await until(`${name} may write`, () => author.can('create', 'reserveddomains.culvert.dev'))
    return author
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

  /** The result of a SubjectAccessReview. */
  async can(verb: string, resource: string): Promise<boolean> {
    return (await this.#run(['auth', 'can-i', verb, resource, '-n', this.namespace])).code === 0
  }

  /** Applies, creates or patches as this user: an empty text if that is allowed, otherwise kubectl's message. */
  async says(args: readonly string[], manifest?: object): Promise<string> {
    const { code, stderr } = await this.#run(args, manifest)
    return code === 0 ? '' : stderr
  }

  /** Whether this user may create an object, by a server-side dry run. */
  creating(manifest: object): Promise<string> {
    return this.says(['create', '--dry-run=server', '-f', '-'], manifest)
  }

  /** A resource of Culvert in the namespace. */
  manifest(kind: string, name: string, spec: object, metadata: object = {}): object {
    return {
      apiVersion: 'culvert.dev/v1alpha1',
      kind,
      metadata: { name, namespace: this.namespace, ...metadata },
      spec,
    }
  }

  #run(args: readonly string[], manifest?: object) {
    const options = manifest === undefined ? {} : { stdin: JSON.stringify(manifest) }
    return this.#cluster.kubectl(['--as', this.name, '--as-group', 'system:authenticated', ...args], options)
  }
}
