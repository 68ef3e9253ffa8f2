import { counted } from '../util/printable.ts'
import type { Backend, Choices, Finding, Session, World } from './world.ts'

type Backends = World['backends']

/** Whether a connection finds something behind a backend. `some`: it depends on the child that is drawn. */
type Serves = 'yes' | 'no' | 'some' | { readonly unknown: string }

/** What is behind a backend. */
export interface BackendQuestion {
  readonly backends: Backends
  readonly choices: Choices
  /** Whether TLS passes through: a fixed answer cannot be given then. */
  readonly passesTls: boolean
}

/** Whether anything behind the edge's backend can serve a connection. */
export function judgeBackend(id: string | undefined, question: BackendQuestion): Finding {
  if (id === undefined) return { outcome: 'refuses', text: 'the edge has no backend, or its backend is disabled' }
  const known = question.backends.get(id)
  if (known === undefined) return { outcome: 'refuses', text: `the backend ${id} does not exist` }
  if ('unknown' in known) return { outcome: 'unknown', text: known.unknown }
  const serves = servesOf(id, question)
  const { source } = known
  const about = { source, details: [...lines(id, question)] }
  if (typeof serves !== 'string') return { outcome: 'unknown', text: serves.unknown, ...about }
  switch (serves) {
    case 'yes':
      return { outcome: 'passes', text: `${source.name} can serve it`, ...about }
    case 'no':
      return { outcome: 'refuses', text: `nothing behind ${source.name} can serve it`, ...about }
    case 'some':
      return {
        outcome: 'unknown',
        text: `${source.name} draws a child for each connection, and not all can serve`,
        ...about,
      }
  }
}

function servesOf(id: string, question: BackendQuestion, above: readonly string[] = []): Serves {
  const known = question.backends.get(id)
  // One that contains itself, which the contract excludes, adds nothing.
  if (known === undefined || above.includes(id)) return 'no'
  if ('unknown' in known) return known
  const { value } = known
  const below = (child: string): Serves => servesOf(child, question, [...above, id])
  switch (value.type) {
    case 'group':
      return 'unknown' in value.tunnels ? value.tunnels : value.tunnels.value > 0 ? 'yes' : 'no'
    case 'response':
      return question.passesTls ? 'no' : 'yes'
    case 'failover':
      return oneOf(value.children.map(below))
    case 'weighted': {
      const drawn = value.children.filter(([, weight]) => weight > 0).map(([child]) => below(child))
      return question.choices['weighted-fallback'] === 'others' ? oneOf(drawn) : onlyOne(drawn)
    }
  }
}

/** One of them suffices. */
function oneOf(all: readonly Serves[]): Serves {
  if (all.includes('yes')) return 'yes'
  return all.find((each) => typeof each !== 'string') ?? (all.includes('some') ? 'some' : 'no')
}

/** One of them is drawn, and no other takes its place. */
function onlyOne(all: readonly Serves[]): Serves {
  const [first = 'no', ...others] = all
  return all.find((each) => typeof each !== 'string') ?? (others.every((each) => each === first) ? first : 'some')
}

/** A backend and what is below it. */
function* lines(id: string, question: BackendQuestion, label = '', above: readonly string[] = []): Generator<string> {
  const indent = '  '.repeat(above.length)
  const known = question.backends.get(id)
  if (known === undefined || above.includes(id)) {
    yield `${indent}${label}${id}: does not exist`
    return
  }
  if ('unknown' in known) {
    yield `${indent}${label}${id}: ${known.unknown}`
    return
  }
  const { value, source } = known
  yield `${indent}${label}${source.name}: ${summary(value)}`
  const path = [...above, id]
  if (value.type === 'group')
    for (const session of value.sessions) yield `${'  '.repeat(path.length)}${sessionText(session)}`
  if (value.type === 'failover') {
    for (const [index, child] of value.children.entries()) yield* lines(child, question, `${index + 1}. `, path)
  }
  if (value.type !== 'weighted') return
  const total = value.children.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [child, weight] of value.children) yield* lines(child, question, `${percent(weight, total)} `, path)
}

function summary(backend: Backend): string {
  switch (backend.type) {
    case 'group': {
      const { tunnels } = backend
      return 'unknown' in tunnels ? tunnels.unknown : `${counted(tunnels.value, 'tunnel')} online${age(tunnels)}`
    }
    case 'response':
      return 'a fixed response'
    case 'weighted':
      return 'by weight'
    case 'failover':
      return 'in this order'
  }
}

function age({ source }: { readonly source: { readonly at?: string | undefined } }): string {
  return source.at === undefined ? '' : ` (${source.at})`
}

function percent(weight: number, total: number): string {
  return total === 0 ? '0 %' : `${Number(((100 * weight) / total).toFixed(2))} %`
}

function sessionText({ address, version, region }: Session): string {
  return `session from ${address}, version ${version}, region ${region}`
}
