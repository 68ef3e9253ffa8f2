import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RUNTIME_SOCKET } from './container-runtime.ts'
import type { NodeFolder } from './folder.ts'
import { NODE_NAME } from './kubeconfigs.ts'
import { NODE_ADDRESS, POD_SUBNET } from './network.ts'

/** The domain of the cluster's names. */
const CLUSTER_DOMAIN = 'cluster.local'

/** Writes a kubelet's configuration and returns its arguments. */
export async function kubeletArguments(folder: NodeFolder, kubeconfig: string, cgroups: string): Promise<string[]> {
  const config = join(folder.configFolder, 'kubelet.json')
  await writeFile(config, JSON.stringify(kubeletConfiguration(folder, cgroups)))
  return [
    `--config=${config}`,
    `--kubeconfig=${kubeconfig}`,
    `--root-dir=${join(folder.path, 'kubelet')}`,
    `--cert-dir=${join(folder.path, 'kubelet-certificates')}`,
    `--hostname-override=${NODE_NAME}`,
    `--node-ip=${NODE_ADDRESS}`,
  ]
}

function kubeletConfiguration(folder: NodeFolder, cgroups: string): unknown {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: `unix://${RUNTIME_SOCKET}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: cgroups,
    // Machines with cgroup v1 are supported as well.
    failCgroupV1: false,
    failSwapOn: false,
    // Not every root may lower a process's oom_score_adj.
    oomScoreAdj: 0,
    clusterDNS: [NODE_ADDRESS],
    clusterDomain: CLUSTER_DOMAIN,
    // The machine's own has names that are useless here.
    resolvConf: '',
    // Only processes in the node's namespaces can reach it: the API server needs no certificate to read logs.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    readOnlyPort: 0,
    podLogsDir: join(folder.path, 'pod-logs'),
    volumePluginDir: join(folder.path, 'volume-plugins'),
    // However full the machine is: everything here is short-lived, and no image could be pulled again.
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
  }
}

/** Writes the configuration of a kube-proxy and returns its arguments. */
export async function proxyArguments(folder: NodeFolder, kubeconfig: string): Promise<string[]> {
  const config = join(folder.configFolder, 'kube-proxy.json')
  // The conntrack table is the machine's, not the namespace's: its size stays.
  const zero = { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' }
  const content = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig },
    mode: 'iptables',
    clusterCIDR: POD_SUBNET,
    hostnameOverride: NODE_NAME,
    conntrack: zero,
  }
  await writeFile(config, JSON.stringify(content))
  return [`--config=${config}`]
}

/** Writes a Corefile and returns CoreDNS' arguments. */
export async function dnsArguments(folder: NodeFolder, kubeconfig: string): Promise<string[]> {
  const config = join(folder.configFolder, 'Corefile')
  const content = `.:53 {
  bind ${NODE_ADDRESS}
  ready ${NODE_ADDRESS}:8181
  errors
  kubernetes ${CLUSTER_DOMAIN} in-addr.arpa {
    kubeconfig ${kubeconfig}
  }
}
`
  await writeFile(config, content)
  return ['-conf', config]
}
