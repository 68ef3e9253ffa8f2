import { buildControlPlane } from '../../controlplane/build.ts'
import { formatDuration, type OnProgress } from '../../controlplane/build-progress.ts'
import { createFolder } from '../../controlplane/folder.ts'
import type { ProgramResult } from '../../controlplane/run-program.ts'
import { requirePrograms } from '../builders/system-programs.ts'
import type { BuiltImage } from '../image/build-image.ts'
import { NodeCgroups } from './cgroups.ts'
import { Cleanup } from './cleanup.ts'
import { ContainerRuntime } from './container-runtime.ts'
import { type NodeControlPlane, startNodeControlPlane } from './control-plane.ts'
import { NodeError } from './errors.ts'
import { createNodeFolder, type NodeFolder } from './folder.ts'
import { importBuiltImage, importPauseImage } from './images.ts'
import { type ComponentName, NODE_NAME } from './kubeconfigs.ts'
import { dnsArguments, kubeletArguments, proxyArguments } from './kubelet.ts'
import { NodeNamespace } from './namespace.ts'
import { NODE_ADDRESS } from './network.ts'
import { NodeProcess } from './node-process.ts'
import { buildNodePrograms, type NodePrograms } from './programs.ts'

/** System programs, and their Debian packages. */
const SYSTEM_PROGRAMS = {
  containerd: 'containerd',
  'containerd-shim-runc-v2': 'containerd',
  ctr: 'containerd',
  runc: 'runc',
  // Its folder is not in anybody's path.
  '../lib/cni/ptp': 'containernetworking-plugins',
  iptables: 'iptables',
  ip: 'iproute2',
  curl: 'curl',
  unshare: 'util-linux',
  nsenter: 'util-linux',
} as const

/**
 * A single-node Kubernetes on this machine, without Docker: control plane, kubelet, kube-proxy, scheduler, containerd
 * and DNS, in mounts, network and processes of their own. Needs root and Linux.
 */
export class KubernetesNode implements AsyncDisposable {
  readonly #opened: AsyncDisposableStack
  readonly folder: NodeFolder
  readonly cgroups: NodeCgroups
  readonly namespace: NodeNamespace
  readonly runtime: ContainerRuntime
  /** Of an administrator; its server is reachable only inside the node's namespaces. */
  readonly kubeconfig: string
  readonly kubectlPath: string

  private constructor(
    opened: AsyncDisposableStack,
    parts: Pick<KubernetesNode, 'folder' | 'cgroups' | 'namespace' | 'runtime' | 'kubeconfig' | 'kubectlPath'>,
  ) {
    this.#opened = opened
    this.folder = parts.folder
    this.cgroups = parts.cgroups
    this.namespace = parts.namespace
    this.runtime = parts.runtime
    this.kubeconfig = parts.kubeconfig
    this.kubectlPath = parts.kubectlPath
  }

  /**
   * Builds and installs what is missing, starts everything and resolves once the node is Ready.
   *
   * @throws NodeError, ControlPlaneError; everything started by then is stopped
   */
  static async start(onProgress: OnProgress): Promise<KubernetesNode> {
    if (process.getuid?.() !== 0) throw new NodeError('NOT_ROOT', 'A node needs root, for namespaces and cgroups')
    await requirePrograms(SYSTEM_PROGRAMS)
    const programs = await buildNodePrograms(onProgress)
    const control = await buildControlPlane({ onProgress })
    const started = performance.now()
    await using opened = new AsyncDisposableStack()
    const folder = await createNodeFolder()
    const planeFolder = await createFolder('Metadata')
    const cleanup = opened.use(await Cleanup.prepare(folder.id, [folder.path, planeFolder.path]))
    const cgroups = await NodeCgroups.create(folder.id)
    const namespace = opened.use(await NodeNamespace.open(folder.id))
    cleanup.after(namespace.pid)
    onProgress('Starting the control plane')
    const plane = await startNodeControlPlane(namespace, folder, planeFolder, { ...control, ...programs }, opened)
    onProgress('Starting the node')
    const runtime = await ContainerRuntime.start(namespace, folder, opened)
    await importPauseImage(runtime, folder, programs.pause)
    await startComponents({ namespace, folder, cgroups, plane, programs, kubectl: control.kubectl }, opened)
    onProgress(`The node is Ready after ${formatDuration(performance.now() - started)}`)
    return new KubernetesNode(opened.move(), {
      ...{ folder, cgroups, namespace, runtime },
      kubeconfig: plane.adminKubeconfig,
      kubectlPath: control.kubectl,
    })
  }

  /** Imports an image into the node; Pods use it by its name. */
  importImage(image: BuiltImage): Promise<void> {
    return importBuiltImage(this.runtime, this.folder, image)
  }

  /** Runs kubectl as the administrator. A non-zero exit code is a result, not an error. */
  kubectl(args: readonly string[], options: { readonly stdin?: string } = {}): Promise<ProgramResult> {
    return this.namespace.run(this.kubectlPath, ['--kubeconfig', this.kubeconfig, ...args], options)
  }

  /** The same; returns its output. @throws NodeError with kubectl's message */
  kubectlOutput(args: readonly string[], options: { readonly stdin?: string } = {}): Promise<string> {
    return this.namespace.output(this.kubectlPath, ['--kubeconfig', this.kubeconfig, ...args], options)
  }

  /** Stops everything in reverse order. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync()
  }
}

interface Parts {
  readonly namespace: NodeNamespace
  readonly folder: NodeFolder
  readonly cgroups: NodeCgroups
  readonly plane: NodeControlPlane
  readonly programs: NodePrograms
  readonly kubectl: string
}

async function startComponents(parts: Parts, opened: AsyncDisposableStack): Promise<void> {
  const { namespace, folder, cgroups, plane, programs } = parts
  const credentials = (name: ComponentName): Promise<string> => plane.tokens.kubeconfig(name, folder, plane.ca)
  const start = async (name: string, program: string, args: readonly string[]): Promise<NodeProcess> =>
    opened.use(await NodeProcess.start(namespace, folder, { name, program, args }))
  const kubenode = (name: string, args: readonly string[]): Promise<NodeProcess> =>
    start(name, programs.kubenode, [name, ...args])
  await kubenode('kube-scheduler', [`--kubeconfig=${await credentials('kube-scheduler')}`, '--leader-elect=false'])
  await kubenode('kube-proxy', await proxyArguments(folder, await credentials('kube-proxy')))
  const dns = await start('dns', programs.dns, await dnsArguments(folder, await credentials('dns')))
  const kubelet = await kubenode('kubelet', await kubeletArguments(folder, await credentials('kubelet'), cgroups.name))
  const admin = ['--kubeconfig', plane.adminKubeconfig]
  await kubelet.until('the node is Ready', async () => {
    const jsonpath = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'
    const { stdout } = await namespace.run(parts.kubectl, [...admin, 'get', 'node', NODE_NAME, '-o', jsonpath])
    return stdout === 'True'
  })
  await dns.until('it answers', async () => {
    const path = ['-sf', `http://${NODE_ADDRESS}:8181/ready`]
    return (await namespace.run('curl', path)).code === 0
  })
}
