/** The node's address, on a network that ends inside its namespace. */
export const NODE_ADDRESS = '10.99.0.1'
/** Where its default route leads: to nobody. */
const NOBODY = '10.99.0.2'
const NODE_SUBNET_LENGTH = 24

/** Addresses of Pods. */
export const POD_SUBNET = '10.244.0.0/24'

/** Port of kube-apiserver. Nobody else is in the namespace. */
export const API_PORT = 6443

/** Commands that make the node's network, in a network namespace that has none. */
export const NETWORK_SCRIPT = `
  ip link set lo up
  ip link add node0 type veth peer name nobody0
  ip address add ${NODE_ADDRESS}/${NODE_SUBNET_LENGTH} dev node0
  ip link set node0 up
  ip link set nobody0 up
  ip route add default via ${NOBODY} dev node0
  echo 1 > /proc/sys/net/ipv4/ip_forward`

/**
 * How Pods get their network: each has a cable of its own to the node, which routes. On a bridge, answers of a Service's Pod would
 * take the short way to a Pod beside it and not be recognised. Nothing here enforces a NetworkPolicy.
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
