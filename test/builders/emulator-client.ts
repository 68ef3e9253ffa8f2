import type { Emulator } from '../../src/emulator/emulator.ts'

/** An answer of the emulator, its body parsed. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The JSON body; `{}` when there is none. */
  readonly body: Body
}

type Body = Record<string, unknown>

export interface CallOptions {
  /** Replaces or, with undefined, removes default headers. Names in lower case. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** Sent as is instead of a JSON body. */
  readonly raw?: string | Uint8Array<ArrayBuffer>
  readonly signal?: AbortSignal
}

/** Calls an emulator over HTTP with one API key. */
export class EmulatorClient {
  readonly #url: string
  readonly #token: string

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  static of(emulator: Emulator): EmulatorClient {
    return new EmulatorClient(emulator.url, emulator.apiKey)
  }

  async call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    const sent = options.raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const headers = {
      authorization: `Bearer ${this.#token}`,
      'service-version': '2',
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    }
    const response = await fetch(path.startsWith('http') ? path : this.#url + path, {
      method,
      headers: Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      body: sent ?? null,
      signal: options.signal ?? null,
    })
    const text = await response.text()
    const parsed: unknown = text === '' ? {} : JSON.parse(text)
    return { status: response.status, headers: response.headers, body: isBody(parsed) ? parsed : {} }
  }

  get(path: string, options?: CallOptions): Promise<Answer> {
    return this.call('GET', path, undefined, options)
  }

  post(path: string, body: unknown, options?: CallOptions): Promise<Answer> {
    return this.call('POST', path, body, options)
  }

  patch(path: string, body: unknown): Promise<Answer> {
    return this.call('PATCH', path, body)
  }

  delete(path: string): Promise<Answer> {
    return this.call('DELETE', path)
  }

  /** Every object of a collection, page by page. */
  async list(path: string): Promise<readonly Body[]> {
    const objects: Body[] = []
    let next: string | null = path
    while (next !== null) {
      const { body }: Answer = await this.get(next)
      objects.push(...(Object.values(body).find(Array.isArray) ?? []))
      next = (body.next_page_uri as string | null | undefined) ?? null
    }
    return objects
  }

  /** Creates an object and returns its id; throws if it is refused. */
  async create(path: string, body: unknown = {}): Promise<string> {
    const answer = await this.post(path, body)
    if (answer.status !== 201) throw new Error(`POST ${path} was answered ${answer.status}: ${String(answer.body.msg)}`)
    return String(answer.body.id)
  }
}

function isBody(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member of an object inside a body, `undefined` if it does not exist: `at(body, 'backend', 'backend', 'id')`. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (here, name) => (typeof here === 'object' && here !== null ? Reflect.get(here, name) : undefined),
    value,
  )
}
