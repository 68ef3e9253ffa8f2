import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ControlPlane } from '../../controlplane/control-plane.ts'
import type { KubeObject } from '../../src/kube/types.ts'

const GROUP = 'culvert.dev'

/**
 * The store behind an apiserver of this machine. Objects written here keep their uids and the times of creation and
 * deletion, as in an upgrade; the apiserver would assign new ones.
 */
export class Etcd {
  readonly #socketPath: string

  constructor({ kubeconfigPath }: ControlPlane) {
    this.#socketPath = join(dirname(kubeconfigPath), 'etcd.sock')
  }

  /** Stores an object for the apiserver, which reads JSON as well as its own encoding. */
  async put(plural: string, object: KubeObject): Promise<void> {
    const { apiVersion = '', metadata } = object
    const group = apiVersion.includes('/') ? `${apiVersion.split('/')[0]}/` : ''
    // Leases are stored like the core group's objects.
    const folder = group === 'coordination.k8s.io/' ? '' : group
    const place = metadata.namespace === undefined ? '' : `${metadata.namespace}/`
    const key = `/registry/${folder}${plural}/${place}${metadata.name}`
    await this.#call('/v3/kv/put', { key: base64(key), value: base64(JSON.stringify(object)) })
  }

  /** Removes every custom resource of Culvert without a trace. */
  async wipe(): Promise<void> {
    const key = `/registry/${GROUP}/`
    await this.#call('/v3/kv/deleterange', { key: base64(key), range_end: base64(`${key.slice(0, -1)}0`) })
  }

  async #call(path: string, body: unknown): Promise<void> {
    const headers = { host: 'localhost', 'content-type': 'application/json' }
    const outgoing = request({ socketPath: this.#socketPath, path, method: 'POST', headers })
    outgoing.end(JSON.stringify(body))
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
    const said = await text(answer)
    if (answer.statusCode !== 200) throw new Error(`etcd answered ${answer.statusCode} to ${path}: ${said}`)
  }
}

function base64(plain: string): string {
  return Buffer.from(plain).toString('base64')
}
