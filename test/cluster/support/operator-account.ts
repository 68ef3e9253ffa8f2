import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, stringify } from 'yaml'
import { holdPermission } from '../../../scripts/permissions/operator.ts'
import { createKubeClient } from '../../../src/kube/client.ts'
import { KubeError } from '../../../src/kube/kube-error.ts'
import { loadKubeConnection } from '../../../src/kube/load-config.ts'
import type { KubeClient, ResourceType } from '../../../src/kube/types.ts'
import { holdName } from '../../../src/managed/accounts/namespace-hold.ts'
import { rulesOf } from '../../../src/managed/permissions.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { KubeRequests } from '../../builders/kube-requests.ts'
import { until } from './wait.ts'

const RULES = new URL('../../../charts/culvert/files/rbac/', import.meta.url)
const RBAC = 'rbac.authorization.k8s.io'

/** Name of the operator's ServiceAccount, and of all roles and bindings in namespaces. */
export const OPERATOR_ACCOUNT = 'culvert'

/** Longer than any suite takes. */
const TOKEN_SECONDS = 86_400

export interface OperatorAccountOptions {
  /** Of an administrator. */
  readonly kubeconfig: string
  readonly kube: KubeClient
  /** The operator's own namespace; it must exist. */
  readonly namespace: string
  /** The namespaces that get a Role; undefined: all, by a ClusterRole. */
  readonly watched: readonly string[] | undefined
  /** Default true. */
  readonly watchSecrets?: boolean
  /** Default false. */
  readonly dnsEndpoints?: boolean
  /** Default false. */
  readonly tunnels?: boolean
  /** Default false. */
  readonly services?: boolean
  /** Default: `OPERATOR_ACCOUNT`. The suite's final check of the audit log covers only that name. */
  readonly name?: string
  /** Whether it may hold a RoleBinding in each watched namespace, as with the chart. Default true. */
  readonly holdNamespaces?: boolean
  /** Whether it may read the UID that identifies its installation. Default true. */
  readonly installation?: boolean
}

/** A ServiceAccount with exactly the chart's rules; ready once the apiserver knows them. */
export class OperatorAccount implements AsyncDisposable {
  readonly #options: OperatorAccountOptions
  readonly #folder: string
  readonly #token: string
  #files = 0

  private constructor(options: OperatorAccountOptions, folder: string, token: string) {
    this.#options = options
    this.#folder = folder
    this.#token = token
  }

  static async create(options: OperatorAccountOptions): Promise<OperatorAccount> {
    const {
      kube,
      namespace,
      watched,
      kubeconfig,
      watchSecrets = true,
      dnsEndpoints = false,
      tunnels = false,
      services = false,
      installation = true,
    } = options
    const name = options.name ?? OPERATOR_ACCOUNT
    await kube.apply(serviceAccounts, { namespace, name }, {})
    const scope = watched === undefined ? 'cluster' : 'namespace'
    const watching = `${scope}${watchSecrets ? '' : '-no-watch-secrets'}`
    const optional = { 'dns-endpoints': dnsEndpoints, tunnels, services }
    const rules = [watching, ...Object.entries(optional).flatMap(([file, isOn]) => (isOn ? [file] : []))]
    const places = watched ?? [undefined]
    const subject = { kind: 'ServiceAccount', name, namespace }
    await Promise.all([
      grant(kube, { rules: ['own-namespace'], namespace, subject, name: `${name}-own` }),
      ...places.map((place) =>
        grant(kube, { rules, namespace: place, subject, name: place ? name : `${name}-${namespace}` }),
      ),
      ...(watched === undefined || !installation
        ? []
        : [grant(kube, { rules: ['installation'], namespace: undefined, subject, name: `${name}-${namespace}` })]),
    ])
    if (holds(options)) await grantHold(kube, { rules, namespace, subject, places: watched ?? [] })
    const folder = await mkdtemp(join(tmpdir(), 'culvert-account-'))
    const account = new OperatorAccount(options, folder, await tokenOf(kubeconfig, namespace, name))
    await account.#known()
    return account
  }

  /** One with only the rights of any authenticated user. */
  static async ofNobody(options: Omit<OperatorAccountOptions, 'watched'>): Promise<OperatorAccount> {
    const { kube, namespace, kubeconfig, name = 'nobody' } = options
    await kube.apply(serviceAccounts, { namespace, name }, {})
    const folder = await mkdtemp(join(tmpdir(), 'culvert-account-'))
    return new OperatorAccount({ ...options, watched: [] }, folder, await tokenOf(kubeconfig, namespace, name))
  }

  /** Of its ServiceAccount. */
  get name(): string {
    return this.#options.name ?? OPERATOR_ACCOUNT
  }

  /** A kubeconfig with the address of `kubeconfig` and this account's token. */
  kubeconfigFor(kubeconfig: string): string {
    const path = join(this.#folder, `kubeconfig-${this.#files++}`)
    const config = withToken(parse(readFileSync(kubeconfig, 'utf8')), this.#token)
    writeFileSync(path, stringify(config), { mode: 0o600 })
    return path
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { kube, namespace, name = OPERATOR_ACCOUNT } = this.#options
    for (const type of [clusterRoleBindings, clusterRoles]) await kube.delete(type, { name: `${name}-${namespace}` })
    if (holds(this.#options)) await kube.delete(clusterRoles, { name: holdName(namespace, 'culvert') })
    await rm(this.#folder, { recursive: true })
  }

  /** The apiserver follows roles and bindings by watches: a grant takes effect a moment later. */
  async #known(): Promise<void> {
    const { kubeconfig, namespace, watched, installation = true } = this.#options
    const client = createKubeClient({
      connection: loadKubeConnection({ kubeconfig: this.kubeconfigFor(kubeconfig) }),
      clock: systemClock,
      random: systemRandom,
      userAgent: 'culvert-test',
    })
    try {
      const looks: readonly (() => Promise<unknown>)[] = [
        () => client.get(leases, { namespace, name: 'any' }),
        ...(watched ?? [undefined]).map((place) => () => client.list(accounts, { namespace: place, limit: 1 })),
        ...(holds(this.#options) ? (watched ?? []) : []).map((place) => {
          return () => client.get(roleBindings, { namespace: place, name: holdName(namespace, 'culvert') })
        }),
        ...(installation ? [() => client.get(namespaces, { name: 'kube-system' })] : []),
      ]
      for (const look of looks) await until('the operator may do what it was granted', () => isAllowed(look))
    } finally {
      await client.close()
    }
  }
}

/** The combined rules of these files, as in the chart. */
export async function generatedRules(...names: readonly string[]): Promise<readonly unknown[]> {
  const files = names.map(async (name) => {
    const text = await readFile(fileURLToPath(new URL(`${name}.yaml`, RULES)), 'utf8')
    return (parse(text) as { readonly rules: readonly unknown[] }).rules
  })
  return (await Promise.all(files)).flat()
}

interface Grant {
  /** Files of the rules. */
  readonly rules: readonly string[]
  /** Undefined: in the whole cluster. */
  readonly namespace: string | undefined
  readonly subject: Readonly<Record<string, string>>
  readonly name: string
}

async function grant(kube: KubeClient, { rules, namespace, subject, name }: Grant): Promise<void> {
  const [role, binding] = namespace === undefined ? [clusterRoles, clusterRoleBindings] : [roles, roleBindings]
  const roleRef = { apiGroup: RBAC, kind: role.kind, name }
  await kube.apply(role, { namespace, name }, { rules: await generatedRules(...rules) })
  await kube.apply(binding, { namespace, name }, { roleRef, subjects: [subject] })
}

function holds({ watched, holdNamespaces = true }: OperatorAccountOptions): boolean {
  return holdNamespaces && watched !== undefined
}

interface HoldGrant {
  /** Files of the rules. */
  readonly rules: readonly string[]
  /** The operator's namespace. */
  readonly namespace: string
  readonly subject: Readonly<Record<string, string>>
  readonly places: readonly string[]
}

/**
 * Grants the rights again by a binding in each place to which their holder may add a finalizer, as in the chart's
 * hold.yaml.
 */
async function grantHold(kube: KubeClient, { rules, namespace, subject, places }: HoldGrant): Promise<void> {
  const name = holdName(namespace, 'culvert')
  const own = rulesOf([holdPermission(name)])
  await kube.apply(clusterRoles, { name }, { rules: [...(await generatedRules(...rules)), ...own] })
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name }
  for (const place of places) {
    await kube.apply(roleBindings, { namespace: place, name }, { roleRef, subjects: [subject] })
  }
}

async function isAllowed(look: () => Promise<unknown>): Promise<boolean> {
  try {
    await look()
    return true
  } catch (error) {
    if (error instanceof KubeError && error.code === 'Forbidden') return false
    throw error
  }
}

/** A token as a pod gets it (TokenRequest). Without audiences it is for the apiserver. */
export async function tokenOf(
  kubeconfig: string,
  namespace: string,
  name: string,
  audiences?: readonly string[],
): Promise<string> {
  using requests = await KubeRequests.of(kubeconfig, 'culvert-test')
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`
  const { status: code, body } = await requests.send('POST', path, {
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: TOKEN_SECONDS, audiences },
    },
  })
  const { status } = body as { readonly status?: { readonly token?: string } }
  if (status?.token === undefined) throw new Error(`no token for ${namespace}/${name}: HTTP ${code}`)
  return status.token
}

interface Kubeconfig {
  readonly 'current-context': string
  readonly clusters: readonly { readonly name: string }[]
  readonly contexts: readonly { readonly name: string; readonly context: { readonly cluster: string } }[]
}

function withToken(config: Kubeconfig, token: string): unknown {
  const current = config.contexts.find(({ name }) => name === config['current-context'])
  const cluster = current?.context.cluster
  const name = 'operator'
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: config.clusters.filter((each) => each.name === cluster),
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster, user: name } }],
    'current-context': name,
  }
}

function type(group: string, plural: string, kind: string, namespaced: boolean, version = 'v1'): ResourceType {
  return { group, version, plural, kind, namespaced }
}

const serviceAccounts = type('', 'serviceaccounts', 'ServiceAccount', true)
const namespaces = type('', 'namespaces', 'Namespace', false)
const leases = type('coordination.k8s.io', 'leases', 'Lease', true)
const accounts = type('culvert.dev', 'accounts', 'Account', true, 'v1alpha1')
const roles = type(RBAC, 'roles', 'Role', true)
const roleBindings = type(RBAC, 'rolebindings', 'RoleBinding', true)
const clusterRoles = type(RBAC, 'clusterroles', 'ClusterRole', false)
const clusterRoleBindings = type(RBAC, 'clusterrolebindings', 'ClusterRoleBinding', false)
