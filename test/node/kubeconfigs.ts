import { randomBytes } from 'node:crypto'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { kubeconfig } from '../../controlplane/folder.ts'
import type { NodeFolder } from './folder.ts'
import { API_PORT, NODE_ADDRESS } from './network.ts'

/** The node's name. */
export const NODE_NAME = 'node'

/** `https://10.99.0.1:6443`. */
export const SERVER = `https://${NODE_ADDRESS}:${API_PORT}`

/** Their users at the API server, to which Kubernetes grants their rights. CoreDNS gets none. */
const COMPONENTS = {
  kubelet: { user: `system:node:${NODE_NAME}`, group: 'system:nodes' },
  'kube-proxy': { user: 'system:kube-proxy', group: 'system:authenticated' },
  'kube-scheduler': { user: 'system:kube-scheduler', group: 'system:authenticated' },
  dns: { user: 'dns', group: 'system:masters' },
} as const

/** A component with a kubeconfig. */
export type ComponentName = keyof typeof COMPONENTS

/** Tokens of a node's components. */
export class ComponentTokens {
  readonly #tokens = new Map<ComponentName, string>()

  /** Adds them to the tokens that an API server is about to read. */
  static async write(tokenFile: string): Promise<ComponentTokens> {
    const written = new ComponentTokens()
    for (const [name, { user, group }] of Object.entries(COMPONENTS)) {
      const token = randomBytes(24).toString('hex')
      written.#tokens.set(name as ComponentName, token)
      await appendFile(tokenFile, `${token},${user},${user},"${group}"\n`)
    }
    return written
  }

  /** Writes a component's kubeconfig for a server with this CA, and returns its path. */
  async kubeconfig(name: ComponentName, folder: NodeFolder, ca: Buffer): Promise<string> {
    const path = join(folder.configFolder, `${name}.kubeconfig`)
    const token = this.#tokens.get(name) ?? ''
    await writeFile(path, kubeconfig({ server: SERVER, ca, user: COMPONENTS[name].user, token }), { mode: 0o600 })
    return path
  }
}
