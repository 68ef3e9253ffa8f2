import type { Fault, Sighting, Trouble, WireAnswer } from './faults.ts'
import { times } from './operator.ts'

type Fields = Readonly<Record<string, unknown>>
export type RemoteObject = Fields & { readonly id: string }

/** A write on its way to the API. */
interface Write {
  readonly method: string
  /** Without the leading slash. */
  readonly path: string
  readonly body: Fields
}

/** What may become of a request to the API. */
export const faults = {
  /** Carried out, without an answer. */
  lost: { type: 'silence', when: 'after' },
  /** The connection is reset at once, and the request carried out as late as possible. */
  late: { type: 'late', ms: times.requestTimeoutMs - 10 },
  unsent: { type: 'silence', when: 'before' },
  doubled: { type: 'twice' },
  broken: { type: 'answer', when: 'before', answer: refusal(500) },
  refused: { type: 'answer', when: 'before', answer: refusal(400) },
} as const satisfies Readonly<Record<string, Fault>>

/** A refusal by the API. */
export function refusal(status: number, msg = 'no'): WireAnswer {
  const body = JSON.stringify({ error_code: `ERR_${status}`, status_code: status, msg, details: {} })
  return { status, headers: { 'content-type': 'application/json' }, body }
}

/** The next writes to the API meet these faults, one each. */
export function nextWrites(...next: readonly Fault[]): Trouble {
  const waiting = [...next]
  return { request: (sighting) => (isApiWrite(sighting) ? waiting.shift() : undefined) }
}

/** Writes to the API meet the fault chosen for them. */
export function onWrite(choose: (write: Write) => Fault | undefined): Trouble {
  return { request: (sighting) => (isApiWrite(sighting) ? choose(writeIn(sighting)) : undefined) }
}

/** The API refuses writes for which there is an answer. */
export function refusing(answer: (write: Write) => WireAnswer | undefined): Trouble {
  return onWrite((write) => {
    const given = answer(write)
    return given && { type: 'answer', when: 'before', answer: given }
  })
}

/** The API does not accept requests with these keys. */
export function refusingKeys(...keys: readonly string[]): Trouble {
  return {
    request: ({ server, headers }) => {
      const isRefused = server === 'api' && keys.some((key) => headers.authorization === `Bearer ${key}`)
      return isRefused ? { type: 'answer', when: 'before', answer: refusal(401) } : undefined
    },
  }
}

/**
 * The API shows objects of a collection otherwise than they are.
 * @param method only in answers to such requests
 */
export function showing(path: string, change: (object: RemoteObject) => Fields, method?: string): Trouble {
  const shown = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shown)
    return typeof value === 'object' && value !== null && 'id' in value ? change(value as RemoteObject) : value
  }
  const rewrite = (answer: WireAnswer): WireAnswer => {
    if (answer.status >= 300 || answer.body === '') return answer
    const body = JSON.parse(answer.body) as Fields
    const changed = 'id' in body ? shown(body) : Object.fromEntries(Object.entries(body).map(([k, v]) => [k, shown(v)]))
    return { ...answer, body: JSON.stringify(changed) }
  }
  return {
    request: (sighting) => {
      const isIn = sighting.path === `/${path}` || sighting.path.startsWith(`/${path}/`)
      if (sighting.server !== 'api' || !isIn || sighting.method !== (method ?? sighting.method)) return undefined
      return { type: 'rewritten', by: rewrite }
    },
  }
}

/** The first of them that has a fault for a request. */
export function either(...troubles: readonly Trouble[]): Trouble {
  return {
    request: (sighting) => {
      for (const trouble of troubles) {
        const fault = trouble.request(sighting)
        if (fault !== undefined) return fault
      }
      return undefined
    },
  }
}

function isApiWrite({ server, method }: Sighting): boolean {
  return server === 'api' && method !== 'GET'
}

function writeIn({ method, path, body }: Sighting): Write {
  return { method, path: path.slice(1), body: body === '' ? {} : (JSON.parse(body) as Fields) }
}
