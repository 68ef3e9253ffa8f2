import { type Front, HostileAPI, type HostileRequest } from '../../builders/hostile-api.ts'
import { World, type WorldOptions } from '../../cluster/support/world.ts'

type Fields = Readonly<Record<string, unknown>>

/** The API's false state of an object: fields that replace the true ones. */
export type Lie = (object: Fields, request: { readonly method: string; readonly path: string }) => Fields

/** Answers a request itself; undefined: the real API does. */
export type Answering = (request: HostileRequest) => Fields | undefined

/** A world whose account leads to an API that carries out requests, and lies about it. */
export class LyingWorld implements AsyncDisposable {
  readonly world: World
  readonly front: Front
  lie: Lie = () => ({})
  answering: Answering = () => undefined
  readonly #api: HostileAPI

  private constructor(world: World, api: HostileAPI) {
    this.world = world
    this.#api = api
    this.front = api.front('api', {
      target: world.emulator.url,
      affects: () => true,
      harm: async (request, response) => {
        const made = this.answering(request)
        const { status, headers, body } = made === undefined ? await request.honest() : honestly(made)
        response.writeHead(status, headers).end(status < 300 && body !== '' ? this.#twisted(body, request) : body)
      },
    })
  }

  /** `account`: further fields of the Account named `default`. */
  static async open(options: WorldOptions = {}, account: Fields = {}): Promise<LyingWorld> {
    const api = await HostileAPI.start()
    const flags = ['--allow-api-host', api.host, ...(options.flags ?? [])]
    const world = await World.open({ ...options, flags, setUp: false })
    const lying = new LyingWorld(world, api)
    await world.setKey(world.emulator.apiKey)
    await lying.account('default', account)
    await world.ready('Account', 'default')
    return lying
  }

  /** Applies an Account that leads to this API. */
  async account(name: string, spec: Fields = {}): Promise<void> {
    const apiKeySecretRef = { name: 'credentials' }
    await this.world.apply('Account', name, { baseURL: this.front.baseURL, apiKeySecretRef, ...spec })
  }

  #twisted(body: string, request: HostileRequest): string {
    const answer = JSON.parse(body) as Fields
    const twist = (object: Fields): Fields => ({ ...object, ...this.lie(object, request) })
    const lists = Object.entries(answer).filter(([, value]) => Array.isArray(value) && 'next_page_uri' in answer)
    if (lists.length === 0) return JSON.stringify(twist(answer))
    const twisted = lists.map(([key, value]) => [key, (value as readonly Fields[]).map(twist)])
    return JSON.stringify({ ...answer, ...Object.fromEntries(twisted) })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]()
    await this.#api[Symbol.asyncDispose]()
  }
}

function honestly(made: Fields) {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(made) }
}
