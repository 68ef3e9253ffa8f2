import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { type Answer, ApiClient, type CallOptions, type Method } from './api-client.ts'
import type { World } from './world.ts'

type Schema = Readonly<Record<string, unknown>>

interface Content {
  readonly content?: { readonly 'application/json': { readonly schema: Schema } }
}

export interface DocumentedOperation {
  readonly summary: string
  readonly security?: readonly Schema[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[]
  readonly requestBody?: Content & { readonly required: boolean }
  readonly responses: Readonly<Record<string, Content & { readonly $ref?: string }>>
}

type PathItem = Readonly<Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete', DocumentedOperation>>> & {
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[]
}

export interface OpenApi {
  readonly openapi: string
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, Content>>
  }
}

/** RFC 3339 in UTC with whole seconds. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

/** The OpenAPI document that an emulator serves, with validation by its schemas. */
export class Documentation {
  readonly document: OpenApi
  readonly #ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    allErrors: true,
    formats: { 'date-time': TIMESTAMP },
  })
  readonly #compiled = new Map<string, ValidateFunction>()

  constructor(document: OpenApi) {
    this.document = document
    // The keys around the schemas, and the limit in bytes, for which there is no keyword.
    this.#ajv.addVocabulary([...Object.keys(document), 'x-maxBytes'])
    this.#ajv.addSchema(document, 'openapi.json')
  }

  static async of(world: World): Promise<Documentation> {
    const answer = await new ApiClient(world.url, world.adminToken).call('GET', '/_emulator/openapi.json')
    return new Documentation(JSON.parse(answer.text) as OpenApi)
  }

  /** The errors of a value by the schema at that place of the document: `components`, `schemas`, `Ref`. */
  faults(value: unknown, ...place: readonly string[]): readonly string[] {
    const pointer = place.map(
      (segment) => `/${encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'))}`,
    )
    const reference = `openapi.json#${pointer.join('')}`
    const validate = this.#compiled.get(reference) ?? this.#ajv.compile({ $ref: reference })
    this.#compiled.set(reference, validate)
    validate(value)
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }

  /** The documented path of an address; undefined if there is none. */
  pathOf(address: string): string | undefined {
    const given = address.replace(/\?.*$/, '').split('/')
    return Object.keys(this.document.paths).find((path) => {
      const segments = path.split('/')
      return (
        segments.length === given.length && segments.every((each, at) => each.startsWith('{') || each === given[at])
      )
    })
  }

  /** The parameters of the path itself and the headers, common to all its methods. */
  parameters(path: string): PathItem['parameters'] {
    return this.document.paths[path]?.parameters ?? []
  }

  operation(method: string, path: string): DocumentedOperation | undefined {
    return this.document.paths[path]?.[method.toLowerCase() as 'get']
  }

  /** Deviations of an answer from the document. */
  misfits(method: string, address: string, answer: Answer): readonly string[] {
    const path = this.pathOf(address)
    const operation = path === undefined ? undefined : this.operation(method, path)
    if (path === undefined || operation === undefined) {
      return [404, 405].includes(answer.status) ? this.#errorFaults(answer) : [`${method} ${address} is not documented`]
    }
    const response = operation.responses[answer.status]
    if (response === undefined) return [`${method} ${path} does not say that it may answer ${answer.status}`]
    if (response.$ref !== undefined) return this.#errorFaults(answer)
    if (response.content === undefined) return answer.text === '' ? [] : [`${method} ${path} answers with a body`]
    const place = ['paths', path, method.toLowerCase(), 'responses', String(answer.status)]
    return this.faults(JSON.parse(answer.text), ...place, 'content', 'application/json', 'schema')
  }

  #errorFaults(answer: Answer): readonly string[] {
    return this.faults(JSON.parse(answer.text), 'components', 'schemas', 'Error')
  }
}

/** A client that validates every answer against the document, and records deviations. */
export class DocumentedClient extends ApiClient {
  readonly misfits: string[] = []
  /** Operations called, by method and documented path. */
  readonly calls = new Set<string>()
  readonly #documentation: Documentation
  readonly #base: string

  constructor(url: string, token: string, documentation: Documentation) {
    super(url, token)
    this.#documentation = documentation
    this.#base = url
  }

  override async call(method: Method, path: string, options: CallOptions = {}): Promise<Answer> {
    const answer = await super.call(method, path, options)
    const address = path.startsWith('http') ? path.slice(this.#base.length) : path
    this.calls.add(`${method} ${this.#documentation.pathOf(address)}`)
    const misfits = this.#documentation.misfits(method, address, answer)
    this.misfits.push(...misfits.map((misfit) => `${method} ${address} ${answer.status}: ${misfit}`))
    return answer
  }
}
