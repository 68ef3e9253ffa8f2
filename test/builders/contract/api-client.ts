import { expect } from 'vitest'
import type { Json } from '../../contract/facts/facts.ts'

/** Any JSON object, as a client reads it. */
export type Resource = { readonly [field: string]: unknown } & { readonly id: string; readonly uri: string }

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** One response, its body read to the end. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface CallOptions {
  /** Sent as JSON. Undefined: no body. */
  readonly body?: unknown
  /** Replace the client's own headers; undefined removes a header. */
  readonly headers?: Readonly<Record<string, string | undefined>>
}

/** The object in a JSON body. */
export function objectIn(answer: Answer): Readonly<Record<string, unknown>> {
  const parsed: unknown = JSON.parse(answer.text)
  expect(parsed, answer.text).toBeTypeOf('object')
  return parsed as Readonly<Record<string, unknown>>
}

/** A client that sends requests exactly as given, and checks only the expected status. */
export class ApiClient {
  readonly #url: string
  readonly #token: string

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  async call(method: Method, path: string, options: CallOptions = {}): Promise<Answer> {
    const headers = new Headers({ Authorization: `Bearer ${this.#token}`, 'Service-Version': '2' })
    if (options.body !== undefined) headers.set('Content-Type', 'application/json')
    for (const [name, value] of Object.entries(options.headers ?? {})) {
      if (value === undefined) headers.delete(name)
      else headers.set(name, value)
    }
    const response = await fetch(path.startsWith('http') ? path : `${this.#url}${path}`, {
      method,
      headers,
      ...(options.body === undefined
        ? {}
        : { body: typeof options.body === 'string' ? options.body : JSON.stringify(options.body) }),
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  /** The object that a call returns. Fails the test at another status. */
  async object(status: number, method: Method, path: string, body?: unknown): Promise<Resource> {
    const answer = await this.call(method, path, body === undefined ? {} : { body })
    expect(answer.status, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`).toBe(status)
    return objectIn(answer) as Resource
  }

  create(collection: string, body: Readonly<Record<string, unknown>>): Promise<Resource> {
    return this.object(201, 'POST', `/${collection}`, body)
  }

  get(collection: string, id: string): Promise<Resource> {
    return this.object(200, 'GET', `/${collection}/${id}`)
  }

  update(collection: string, id: string, body: Readonly<Record<string, unknown>>): Promise<Resource> {
    return this.object(200, 'PATCH', `/${collection}/${id}`, body)
  }

  /** Fails the test unless the answer is 204 without a body. */
  async remove(path: string): Promise<void> {
    const answer = await this.call('DELETE', path)
    expect([answer.status, answer.text], `DELETE ${path}`).toEqual([204, ''])
  }

  /** Every object of a list, by following `next_page_uri`. */
  async all(path: string, listKey: string): Promise<readonly Resource[]> {
    const found: Resource[] = []
    for (let next: string | null = path; next !== null; ) {
      const page: Resource = await this.object(200, 'GET', next)
      found.push(...(page[listKey] as readonly Resource[]))
      next = page.next_page_uri as string | null
    }
    return found
  }
}

/** What `expectRefusal` found in the body. */
export interface ApiErrorBody {
  readonly error_code: string
  readonly status_code: number
  readonly msg: string
  readonly details: Readonly<Record<string, string>>
}

/**
 * Fails the test unless the answer is an error of that status, in the contract's form, that contains each of the names.
 */
export function expectRefusal(answer: Answer, status: number, ...names: readonly string[]): ApiErrorBody {
  expect(answer.status, answer.text).toBe(status)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/)
  const error = objectIn(answer) as unknown as ApiErrorBody
  expect(Object.keys(error).sort((a, b) => a.localeCompare(b))).toEqual(['details', 'error_code', 'msg', 'status_code'])
  expect(error.status_code).toBe(status)
  expect(error.error_code).toMatch(/^ERR_\d+$/)
  expect(error.msg).toMatch(/\S/)
  expect(Object.values(error.details).filter((value) => typeof value !== 'string')).toEqual([])
  expect(error.details.operation_id).toMatch(/^op_\w+$/)
  expect(answer.headers.get('operation-id')).toBe(error.details.operation_id)
  const said = [error.msg, ...Object.entries(error.details).flat()].join('\n')
  for (const name of names) expect(said).toContain(name)
  return error
}

/** A reference to an object, as in responses. */
export function refTo(resource: Resource): Json {
  return { id: resource.id, uri: resource.uri }
}
