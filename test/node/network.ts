/** The node's address, on a network that ends inside its namespace. */
export const NODE_ADDRESS = '10.99.0.1'
/** The target of its default route, which does not exist. */
const NOBODY = '10.99.0.2'
const NODE_SUBNET_LENGTH = 24

/** Addresses of Pods. */
export const POD_SUBNET = '10.244.0.0/24'

/** Port of kube-apiserver. Nothing else listens in the namespace. */
export const API_PORT = 6443

/** Commands that create the node's network in an empty network namespace. */
export const NETWORK_SCRIPT = `
  ip link set lo up
  ip link add node0 type veth peer name nobody0
  ip address add ${NODE_ADDRESS}/${NODE_SUBNET_LENGTH} dev node0
  ip link set node0 up
  ip link set nobody0 up
  ip route add default via ${NOBODY} dev node0
  echo 1 > /proc/sys/net/ipv4/ip_forward`

/**
 * The Pods' network: each has a point-to-point link to the node, which routes. On a bridge, answers of a Service's Pod
 * would take a shortcut to a Pod next to it and not be recognized. Nothing here enforces NetworkPolicies.
 */
export function networkConfiguration(dataFolder: string): unknown {
  return {
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [
      {
        type: 'ptp',
        ipMasq: false,
        ipam: {
          type: 'host-local',
          dataDir: dataFolder,
          ranges: [[{ subnet: POD_SUBNET }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  }
}
