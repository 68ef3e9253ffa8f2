import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { ClosableKubeClient } from '../../../src/kube/client.ts'
import type { ResourceType } from '../../../src/kube/types.ts'
import { goModule } from '../../chart/support/tools.ts'
import { install } from './cluster-client.ts'
import type { ToolCluster } from './tool.ts'

const CONTROLLER = 'github.com/fluxcd/source-controller@v1.9.6'

/** What a source provides at one revision. */
export interface Artifact {
  readonly revision: string
  readonly file: string
  /** Writes the archive to a path. */
  readonly write: (path: string) => Promise<void>
}

/** Stands in for Flux's source-controller: serves archives, and names them in the status of sources. */
export class Sources implements AsyncDisposable {
  readonly folder: string
  readonly #server: Server

  private constructor(folder: string, server: Server) {
    this.folder = folder
    this.#server = server
  }

  /** Installs its CRDs too. */
  static async serve(cluster: ToolCluster): Promise<Sources> {
    await install(cluster, { file: join(await goModule(CONTROLLER), 'config', 'crd', 'bases') })
    const folder = await mkdtemp(join(tmpdir(), 'culvert-archives-'))
    const server = createServer((request, response) => {
      const file = createReadStream(join(folder, basename(request.url ?? '')))
      file.once('error', () => response.writeHead(404).end()).pipe(response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new Sources(folder, server)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Makes an artifact the newest of a source. */
  async publish(
    kube: ClosableKubeClient,
    type: ResourceType,
    key: { readonly namespace: string; readonly name: string },
    { revision, file, write }: Artifact,
  ): Promise<void> {
    const path = join(this.folder, file)
    await write(path)
    const hash = createHash('sha256').update(await readFile(path))
    const { metadata } = (await kube.get(type, key)) ?? {}
    const observedGeneration = metadata?.generation
    const now = new Date().toISOString().replace(/\.\d+/, '')
    const ready = { type: 'Ready', status: 'True', reason: 'Succeeded', message: 'stored artifact' }
    const status = {
      observedGeneration,
      artifact: {
        url: `${this.url}/${file}`,
        digest: `sha256:${hash.digest('hex')}`,
        path: file,
        revision,
        lastUpdateTime: now,
      },
      conditions: [{ ...ready, lastTransitionTime: now, observedGeneration }],
    }
    await kube.mergePatch(type, key, { status }, { subresource: 'status' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    await rm(this.folder, { recursive: true })
  }
}
