import type { Attributes } from '@opentelemetry/api'

/** What a span says of a request, after the semantic conventions for HTTP clients. */
export function requestAttributes(method: string, { hostname, port, protocol }: URL): Attributes {
  return {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
  }
}

/** What a span says of a response; nothing if there was none. */
export function responseAttributes(status: number | undefined): Attributes {
  return status === undefined ? {} : { 'http.response.status_code': status }
}
