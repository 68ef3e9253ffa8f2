import { parseMarker } from '../../../../src/managed/markers/marker.ts'
import type { Call, Side } from './side.ts'

type Fields = Readonly<Record<string, unknown>>

/** `api-decisions.md § Values`. */
const ID = /^[a-z]+_[0-9A-Za-z]{27}$/
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/

/** Calls in words, in order, by what they are about. */
export type Transcript = ReadonlyMap<string, readonly string[]>

/**
 * The calls in words that are the same on both sides: random values, times and server addresses are replaced by what
 * they stand for; ids are named after the resource and the number of objects it has had. Resources are reconciled
 * concurrently with each other and with the account: the order is that of one resource's calls to one server.
 */
export function transcriptOf(side: Side): Transcript {
  const names = namesOf(side)
  const priorities = new Map<string, string[]>()
  for (const call of side.calls()) {
    const text = common(textOf(call), side, names)
    const priority = `${call.server}: ${laneOf(call, names)}`
    priorities.set(priority, [...(priorities.get(priority) ?? []), text])
  }
  return priorities
}

/** The differences of the second's calls from the first's; empty if they are equal. */
export function differences(expected: Transcript, actual: Transcript): readonly string[] {
  return [...new Set([...expected.keys(), ...actual.keys()])].flatMap((priority) => {
    const [left = [], right = []] = [expected.get(priority), actual.get(priority)]
    if (left.join('\n') === right.join('\n')) return []
    const marked = (calls: readonly string[], others: readonly string[]) =>
      calls.map((call) => (others.includes(call) ? `  ${call.slice(0, 120)}` : `! ${call}`)).join('\n')
    return [`${priority}\n simulated:\n${marked(left, right)}\n real:\n${marked(right, left)}`]
  })
}

/** The number of calls. */
export function lengthOf(transcript: Transcript): number {
  return [...transcript.values()].flat().length
}

/** What a call is about: an object of Kubernetes, a resource's remote objects, or a whole collection there. */
function laneOf({ server, path, body }: Call, names: ReadonlyMap<string, string>): string {
  if (server === 'kubernetes')
    return path.replace(/^(.*\/namespaces\/[^/]+\/[^/]+(?:\/[^/]+)?).*$/, '$1').replace(/^.*namespaces\/[^/]+\//, '')
  const id = path.split('/').find((part) => ID.test(part))
  if (id !== undefined) return names.get(id)?.replace(/^\{\S+ of (.*) #\d+\}$/, '$1') ?? 'unknown'
  return ownerOf(body) ?? 'collections'
}

function textOf({ server, method, path, query, body, status, answer }: Call): string {
  const asked = `${server} ${method} ${path}${query === '' ? '' : `?${query}`}`
  const sent = body === undefined ? '' : ` ${canonical(server === 'api' ? body : shown(body as Fields))}`
  const came = answer === undefined ? '' : ` ${canonical(shown(answer as Fields))}`
  return `${asked}${sent} → ${status}${came}`
}

/** An object without the API server's own fields, and without the tokens of a Secret. */
function shown(object: Fields): unknown {
  const { metadata, data, ...rest } = object
  const { managedFields: _, ...kept } = (metadata ?? {}) as Fields
  return { ...rest, ...(data === undefined ? {} : { data: hidden(data as Fields) }), metadata: kept }
}

function hidden(data: Fields): Fields {
  return Object.fromEntries(Object.keys(data).map((name) => [name, '{secret}']))
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, item: unknown) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
    // A time is written only if a second has passed since it was last written.
    const told = Object.entries(item).filter(([, each]) => typeof each !== 'string' || !TIME.test(each))
    return Object.fromEntries(told.toSorted(([left], [right]) => (left < right ? -1 : 1)))
  })
}

/** What each id stands for. */
function namesOf(side: Side): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const counts = new Map<string, number>()
  for (const { id, body } of side.made()) {
    const place = `${id.split('_')[0]} of ${ownerOf(body) ?? 'nobody'}`
    const count = (counts.get(place) ?? 0) + 1
    counts.set(place, count)
    names.set(id, `{${place} #${count}}`)
  }
  return names
}

/** The resource whose marker the object was created with. */
function ownerOf(body: unknown): string | undefined {
  const { metadata, name } = (body ?? {}) as Fields
  const marker = parseMarker(metadata ?? name)
  return marker === undefined ? undefined : `${marker.kind}/${marker.name}`
}

function common(text: string, side: Side, names: ReadonlyMap<string, string>): string {
  const words = side.words.reduce((result, [own, shared]) => result.replaceAll(own, shared), text)
  return words
    .replaceAll(/[a-z]+_[0-9A-Za-z]{27}/g, (id) => names.get(id) ?? `{${id.split('_')[0]}}`)
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '{uid}')
    .replaceAll(/uid-\d+/g, '{uid}')
    .replaceAll('{uid}/{operator namespace}/culvert', '{installation}')
    .replaceAll(/\b[0-9a-f]{32}\b/g, '{nonce}')
    .replaceAll(/\b([0-9a-f]{8}-)?[0-9a-f]{16}\b/g, '{digest}')
    .replaceAll(/"publicKey":"[^"]*"/g, '"publicKey":"{key}"')
    .replaceAll(/\d\.tcp\.[a-z]+\.tunnel\.example:\d+/g, '{address}')
    .replaceAll(/192\.0\.2\.\d+\/32/g, '{placeholder}')
    .replaceAll(/(cert-v01@openssh\.com) [A-Za-z0-9+/=]+/g, '$1 {certificate}')
    .replaceAll(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g, '{time}')
    .replaceAll(/"resourceVersion":"\d+"/g, '"resourceVersion":"{version}"')
}
