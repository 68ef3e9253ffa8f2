import { COMMON_SCHEMAS, type JsonSchema, shared } from '../fields/json-schema.ts'
import type { Resource } from '../objects/resource.ts'
import type { Json, JsonObject } from '../values/json.ts'
import type { Entry, RefusalStatus } from './operation.ts'
import { collectionSchemas } from './schemas.ts'

export interface DocumentOptions {
  readonly entries: readonly Entry[]
  readonly resources: readonly Resource[]
  /** Path of the admin surface, which has a token of its own and no version. */
  readonly adminPrefix: string
  /** Names of the headers that may carry the API version. */
  readonly versionHeaders: readonly string[]
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'The request is invalid.',
  401: 'The bearer token is missing, malformed or unknown.',
  403: 'The caller may not do this.',
  404: 'The path names nothing.',
  409: 'The value is taken, or the object in use.',
  413: 'The body is too large.',
  415: 'The body is not application/json.',
  429: 'Too many requests with this API key.',
}

/** The OpenAPI 3.1 document of everything that is served, from the routes themselves. */
export function openApiDocument({ entries, resources, adminPrefix, versionHeaders }: DocumentOptions): JsonObject {
  const served = resources.filter((resource) => resource.served)
  const paths: { [path: string]: JsonObject } = {}
  for (const entry of entries) {
    const path = entry.url.replace(/:(\w+)/g, '{$1}')
    const isAdmin = entry.url.startsWith(`${adminPrefix}/`)
    paths[path] ??= parametersOf(path, isAdmin ? [] : versionHeaders)
    paths[path][entry.method.toLowerCase()] = describe(entry, isAdmin)
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Tunnel and Ingress Management API, as emulated', version: '2' },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    paths,
    components: {
      schemas: { ...COMMON_SCHEMAS, ...Object.assign({}, ...served.map(collectionSchemas)) },
      responses: Object.fromEntries(
        Object.keys(REASONS).map((status) => [`Refused${status}`, refusal(Number(status))]),
      ),
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'The token of an API key.' },
        adminToken: { type: 'http', scheme: 'bearer', description: 'The token of the admin surface.' },
      },
    },
  }
}

/** What all methods of a path have in common. */
function parametersOf(path: string, versionHeaders: readonly string[]): JsonObject {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']): Json => {
    return { name, in: 'path', required: true, schema: { type: 'string' } }
  })
  // Any one of several suffices, which a single parameter cannot express.
  const required = versionHeaders.length === 1
  const version = versionHeaders.map((name): Json => {
    return { name, in: 'header', required, description: 'The API version.', schema: { type: 'string', const: '2' } }
  })
  return { parameters: [...inPath, ...version] }
}

function describe({ url, operation }: Entry, isAdmin: boolean): JsonObject {
  const { summary, query = {}, body, success, refusals = [] } = operation
  const parameters = Object.entries(query).map(([name, schema]): Json => ({ name, in: 'query', schema: { ...schema } }))
  const statuses: (RefusalStatus | 400 | 401 | 403 | 413 | 415 | 429)[] = [
    ...(isAdmin ? ([400, 401] as const) : ([400, 401, 403, 429] as const)),
    ...(url.includes(':') ? ([404] as const) : []),
    ...(body === undefined ? [] : ([413, 415] as const)),
    ...refusals,
  ]
  const refused = statuses
    .toSorted((left, right) => left - right)
    .map((status) => [String(status), { $ref: `#/components/responses/Refused${status}` }])
  return {
    summary,
    ...(isAdmin ? { security: [{ adminToken: [] }] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: json(body) } }),
    responses: {
      [success.status]: {
        description: success.body === undefined ? 'Done.' : 'The answer.',
        ...(success.body === undefined ? {} : { content: json(success.body) }),
      },
      ...Object.fromEntries(refused),
      default: { description: 'The request failed.', content: json(shared('Error')) },
    },
  }
}

function refusal(status: number): Json {
  const retry = { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } }
  return {
    description: REASONS[status] ?? '',
    headers: {
      'Operation-Id': { description: 'Repeats details.operation_id.', schema: { type: 'string' } },
      ...(status === 429 ? retry : {}),
    },
    content: json(shared('Error')),
  }
}

function json(schema: JsonSchema): JsonObject {
  return { 'application/json': { schema: { ...schema } } }
}
