/**
 * Annotations with which other load balancers restrict who may connect, such as only clients of a private network. A
 * Service migrated from another load balancer may rely on one, so that only those are ignored that are known to
 * restrict nothing (docs/decisions/0043-services-of-type-load-balancer.md).
 */

/** What the annotations of load balancers begin with: those of clouds, and those that run in clusters. */
const PREFIXES = [
  'service.beta.kubernetes.io/',
  'service.kubernetes.io/',
  'kubernetes.io/elb.',
  'networking.gke.io/',
  'cloud.google.com/',
  'oci.oraclecloud.com/',
  'oci-network-load-balancer.oraclecloud.com/',
  'load-balancer.hetzner.cloud/',
  'loadbalancer.openstack.org/',
  'loadbalancer.ovhcloud.com/',
  'k8s.cloudscale.ch/',
  'kubernetes.digitalocean.com/',
  'kubernetes.civo.com/',
  'yandex.cloud/',
  'lb.stackit.cloud/',
  'yawol.stackit.cloud/',
  'metallb.io/',
  'metallb.universe.tf/',
  'kube-vip.io/',
  'io.cilium/',
  'lbipam.cilium.io/',
  'service.cilium.io/',
  'eip.openelb.kubesphere.io/',
  'lb.kubesphere.io/',
  'loxilb.io/',
  'purelb.io/',
  'tailscale.com/',
  'ako.vmware.com/',
  'cis.f5.com/',
  'service.citrix.com/',
  'service.cloud.tencent.com/',
] as const

/** Those that restrict nothing, whatever their value, such as health checks and names. `*` stands for any text. */
const HARMLESS = [
  'service.kubernetes.io/topology-*',
  ...[
    'access-log-*',
    'additional-resource-tags',
    'alpn-policy',
    'backend-protocol',
    'connection-draining-*',
    'connection-idle-timeout',
    'cross-zone-load-balancing-enabled',
    'eip-allocations',
    'healthcheck-*',
    'ip-address-type',
    'name',
    'nlb-target-type',
    'proxy-protocol',
    'ssl-*',
    'target-group-attributes',
    'target-node-labels',
  ].map((name) => `service.beta.kubernetes.io/aws-load-balancer-${name}`),
  ...[
    'dns-label-name',
    'load-balancer-disable-tcp-reset',
    'load-balancer-health-probe-*',
    'load-balancer-mode',
    'load-balancer-resource-group',
    'load-balancer-tcp-idle-timeout',
    'pip-name',
    'pip-prefix-id',
    'pip-tags',
  ].map((name) => `service.beta.kubernetes.io/azure-${name}`),
  'service.beta.kubernetes.io/port_*_health-probe_*',
  ...[
    'algorithm',
    'disable-lets-encrypt-dns-records',
    'enable-backend-keepalive',
    'enable-proxy-protocol',
    'healthcheck-*',
    'hostname',
    'http-idle-timeout-seconds',
    'name',
    'size-*',
    'type',
  ].map((name) => `service.beta.kubernetes.io/do-loadbalancer-${name}`),
  'kubernetes.digitalocean.com/load-balancer-id',
  ...[
    'forward-port-algorithm',
    'health-check-*',
    'id',
    'proxy-protocol-v*',
    'send-proxy-v*',
    'sticky-sessions*',
    'timeout-*',
    'type',
    'zone',
  ].map((name) => `service.beta.kubernetes.io/scw-loadbalancer-${name}`),
  'service.beta.kubernetes.io/oci-load-balancer-shape*',
  'service.beta.kubernetes.io/oci-load-balancer-connection-*',
  'service.beta.kubernetes.io/oci-load-balancer-health-check-*',
  'oci-network-load-balancer.oraclecloud.com/health-check-*',
  'oci.oraclecloud.com/load-balancer-type',
  'cloud.google.com/app-protocols',
  'cloud.google.com/l4-rbs',
  'cloud.google.com/neg',
  'cloud.google.com/neg-status',
  'cloud.google.com/network-tier',
  'networking.gke.io/weighted-load-balancing',
  ...[
    'algorithm-type',
    'health-check-*',
    'hostname',
    'id',
    'ipv4',
    'ipv6',
    'location',
    'name',
    'network-zone',
    'node-selector',
    'protocol',
    'type',
    'use-private-ip',
    'uses-proxyprotocol',
  ].map((name) => `load-balancer.hetzner.cloud/${name}`),
  ...[
    'enable-health-monitor',
    'flavor-id',
    'health-monitor-*',
    'hostname',
    'keep-floatingip',
    'load-balancer-id',
    'proxy-protocol',
    'timeout-*',
    'x-forwarded-for',
  ].map((name) => `loadbalancer.openstack.org/${name}`),
  'metallb.io/allow-shared-ip',
  'metallb.io/ip-allocated-from-pool',
  'metallb.universe.tf/allow-shared-ip',
  'metallb.universe.tf/ip-allocated-from-pool',
  'kube-vip.io/vipHost',
].map(patternOf)

/** Values with which an annotation restricts nothing, by what its name ends with, in lower case. The first decides. */
const PUBLIC: readonly (readonly [ending: string, values: readonly string[]])[] = [
  ['internal', ['false']],
  ['internal-load-balancer', ['false']],
  ['internal-lb', ['false']],
  ['loadbalancer-private', ['false']],
  ['disable-public-network', ['false']],
  ['load-balancer-scheme', ['internet-facing']],
  ['aws-load-balancer-type', ['nlb']],
  ['load-balancer-type', ['external']],
  ['loadbalancer-network', ['external']],
  ['loadbalancer-address-type', ['internet']],
  ['cloud-provider-ip-type', ['public']],
  ['source-ranges', ['0.0.0.0/0', '0.0.0.0/0,::/0']],
  ['allowed-ip-ranges', ['0.0.0.0/0', '0.0.0.0/0,::/0']],
]

const AWS = 'service.beta.kubernetes.io/aws-load-balancer-'

type Annotations = Readonly<Record<string, string>>

/** Names of the annotations of other load balancers that may be meant to restrict who connects. Pure. */
export function restrictingAnnotations(annotations: Annotations): readonly string[] {
  return Object.keys(annotations).filter((name) => {
    const isForeign = PREFIXES.some((prefix) => name.startsWith(prefix))
    return isForeign && !HARMLESS.some((pattern) => pattern.test(name)) && !isPublic(name, annotations)
  })
}

function isPublic(name: string, annotations: Annotations): boolean {
  // Of a type other than `nlb`, AWS makes an internal load balancer unless another scheme is named.
  if (name === `${AWS}type` && annotations[`${AWS}scheme`] === 'internet-facing') return true
  const value = annotations[name]?.toLowerCase().replaceAll(/\s/g, '') ?? ''
  const [, values = []] = PUBLIC.find(([ending]) => name.endsWith(ending)) ?? []
  return values.includes(value)
}

function patternOf(name: string): RegExp {
  return new RegExp(`^${name.replaceAll('.', '[.]').replaceAll('*', '.*')}$`)
}
