import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { NodeFolder } from './folder.ts'
import type { NodeNamespace } from './namespace.ts'
import { networkConfiguration } from './network.ts'
import { NodeProcess } from './node-process.ts'

/** Inside the node's own /run. */
export const RUNTIME_SOCKET = '/run/containerd/containerd.sock'

/** Name of the image whose container keeps a Pod's network open. */
export const PAUSE_IMAGE = 'registry.k8s.io/pause:3.10'

/** Debian's package containernetworking-plugins. */
const NETWORK_PROGRAMS = '/usr/lib/cni'

/** containerd with runc and CNI, in a node's namespaces. */
export class ContainerRuntime {
  readonly #namespace: NodeNamespace

  private constructor(namespace: NodeNamespace) {
    this.#namespace = namespace
  }

  static async start(
    namespace: NodeNamespace,
    folder: NodeFolder,
    opened: AsyncDisposableStack,
  ): Promise<ContainerRuntime> {
    const networks = join(folder.configFolder, 'cni')
    await mkdir(networks)
    const network = networkConfiguration(join(folder.path, 'addresses'))
    await writeFile(join(networks, '10-pods.conflist'), JSON.stringify(network))
    const config = join(folder.configFolder, 'containerd.toml')
    await writeFile(config, configuration(folder, networks))
    const args = ['--config', config]
    const containerd = opened.use(
      await NodeProcess.start(namespace, folder, { name: 'containerd', program: 'containerd', args }),
    )
    const runtime = new ContainerRuntime(namespace)
    await containerd.until('it answers', async () => {
      return (await namespace.run('ctr', ['--address', RUNTIME_SOCKET, 'version'])).code === 0
    })
    return runtime
  }

  /** Imports an image from a file in the format of `docker save`. */
  async importImage(file: string): Promise<void> {
    await this.#namespace.output('ctr', [
      ...['--address', RUNTIME_SOCKET, '--namespace', 'k8s.io'],
      ...['images', 'import', file],
    ])
  }
}

function configuration(folder: NodeFolder, networks: string): string {
  const text = JSON.stringify
  return `version = 2
root = ${text(join(folder.path, 'containerd'))}
state = "/run/containerd/state"

[grpc]
address = ${text(RUNTIME_SOCKET)}

[plugins."io.containerd.internal.v1.opt"]
path = ${text(join(folder.path, 'opt'))}

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = ${text(PAUSE_IMAGE)}
# Not every root may make a process less likely to be killed than itself.
restrict_oom_score_adj = true
disable_apparmor = true

[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "runc"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = ${text(NETWORK_PROGRAMS)}
conf_dir = ${text(networks)}
`
}
