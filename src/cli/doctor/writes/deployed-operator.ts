import type { KubeObject } from '../../../kube/types.ts'
import type { ServicePolicy } from '../../../managed/services/service.ts'

/** The Deployment of an operator, as far as it is read. */
export interface OperatorDeployment extends KubeObject {
  readonly spec?: {
    readonly template?: {
      readonly spec?: {
        readonly serviceAccountName?: string
        readonly containers?: readonly { readonly image?: string; readonly args?: readonly string[] }[]
      }
    }
  }
}

/** An operator that runs in the cluster: whose ServiceAccount it uses, and what its flags have it write. */
export interface DeployedOperator {
  readonly namespace: string
  /** Its `--name`, which is also the name of its Lease. */
  readonly name: string
  readonly serviceAccount: string
  /** The namespaces that it watches; none: all. */
  readonly watched: readonly string[]
  readonly holdsNamespaces: boolean
  readonly dnsDomains: readonly string[]
  /** Undefined: it runs no agents. */
  readonly agents: { readonly image: string; readonly gateways: readonly string[] } | undefined
  /** Undefined: it serves no Services. */
  readonly services: Pick<ServicePolicy, 'unclassed'> | undefined
}

/** The operator of that name among Deployments; undefined for one that runs in none of them. Pure. */
export function deployedOperator(
  deployments: readonly OperatorDeployment[],
  operator: Pick<DeployedOperator, 'namespace' | 'name'>,
): DeployedOperator | undefined {
  for (const { spec } of deployments) {
    const { serviceAccountName = 'default', containers = [] } = spec?.template?.spec ?? {}
    for (const { args = [] } of containers) {
      const values = (flag: string): readonly string[] => valuesOf(args, flag)
      if (args[0] !== 'operator' || (values('--name').at(-1) ?? 'culvert') !== operator.name) continue
      const image = values('--agent-image').at(-1)
      const has = (flag: string): boolean => args.includes(flag)
      return {
        ...operator,
        serviceAccount: serviceAccountName,
        watched: values('--watch-namespace'),
        holdsNamespaces: has('--hold-namespaces'),
        dnsDomains: has('--dns-endpoints') ? values('--dns-domains').flatMap((text) => text.split(',')) : [],
        agents:
          has('--tunnels') && image !== undefined ? { image, gateways: values('--allow-ssh-gateway') } : undefined,
        services: has('--services') ? { unclassed: has('--services-default') } : undefined,
      }
    }
  }
  return undefined
}

/** `--flag=value` as the chart writes flags, or `--flag value`. */
function valuesOf(args: readonly string[], flag: string): readonly string[] {
  return args.flatMap((arg, index) => {
    if (arg === flag) return args.slice(index + 1, index + 2)
    return arg.startsWith(`${flag}=`) ? [arg.slice(flag.length + 1)] : []
  })
}
