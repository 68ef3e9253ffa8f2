import { type CustomResource, nameText, type ResourceName, unresolvedAttempt } from '../../managed/cr.ts'
import { reasons } from '../../managed/descriptor/reasons.ts'
import type { CulvertEvent } from '../cluster/events-about.ts'
import type { Leader } from '../cluster/operator-lease.ts'
import { type ResourceState, type StatedResource, sidesOf } from '../cluster/resource-state.ts'
import { spanText } from '../terminal/line.ts'
import type { Link, Side } from './causes.ts'

/** What is known about a resource and its cause. */
export interface Facts {
  /** From the resource that was asked about to the cause. */
  readonly links: readonly [Link, ...Link[]]
  /** Further problems, of the given resource or of its dependencies. */
  readonly sides: readonly Side[]
  /** How old what is known of a resource is, by `nameText`, where the operator reads it only now and then. */
  readonly ages?: ReadonlyMap<string, string>
  /** Events about the cause, or the resource that was asked about; undefined: not read. */
  readonly events: readonly CulvertEvent[] | undefined
  /** Requests to the API for the same; undefined: not read. */
  readonly requests: readonly CulvertEvent[] | undefined
  /** Undefined: it does not matter, since nothing is waited for. */
  readonly leader: Leader | undefined
  /** Wall time in milliseconds. */
  readonly now: number
}

/** One paragraph about why a resource is as it is, without the remedy. */
export function paragraphOf({ links, sides, ages = new Map(), events, requests, leader, now }: Facts): string {
  const [asked, ...causes] = links
  return [
    stateSentence(asked, now),
    ...causes.map((link, index) => causeSentence(link, links[index] ?? asked, now)),
    ...(leader === undefined ? [] : leaderSentence(leader, links.at(-1)?.state)),
    ...attemptSentence(asked.resource),
    ...eventSentence(events ?? [], now),
    ...requestSentence(requests ?? [], now),
    ...sideSentences(sides, asked, ages),
    ...ageSentence(sides, ages),
  ].join(' ')
}

/** `Edge/shop`, with its namespace. */
function fullName({ kind, namespace, name }: ResourceName): string {
  return namespace === undefined ? `${kind}/${name}` : `${kind}/${name} in namespace ${namespace}`
}

/** A name relative to another: with its namespace only if it differs. */
function nameBeside(name: ResourceName, other: ResourceName): string {
  return name.namespace === other.namespace ? `${name.kind}/${name.name}` : fullName(name)
}

function stateSentence({ name, resource, state }: Link, now: number): string {
  if (state === undefined) return `${fullName(name)} does not exist.`
  const works = isReady(resource)
  // What is in sync may still serve nobody: the sentences that follow say what is wrong.
  const isDegraded = verbFor(state, works) === 'works' && resource !== undefined && sidesOf(resource).length > 0
  const sentence = `${fullName(name)} ${isDegraded ? 'is Ready' : verbFor(state, works)}${sinceText(state, now)}: ${state.message}.`
  const stillWorks = works && (state.phase === 'stalled' || state.phase === 'inProgress')
  return stillWorks ? `${sentence} Its object works as before.` : sentence
}

function verbFor({ phase, reason }: ResourceState, works: boolean): string {
  switch (phase) {
    case 'current':
      return works ? (reason === 'Available' ? 'works' : 'works, but does not fully match its spec') : 'does not work'
    case 'stalled':
      if (reason === reasons.AwaitingApproval) return 'is held until someone intervenes'
      return 'is stalled until someone intervenes'
    case 'inProgress':
      return works ? 'is not in sync' : 'is waiting'
    case 'deleting':
      return 'is being deleted'
    case 'paused':
      return 'is paused'
    case 'unseen':
      return 'has no conditions'
  }
}

function sinceText({ since }: ResourceState, now: number): string {
  const at = since === undefined ? Number.NaN : Date.parse(since)
  if (since === undefined || Number.isNaN(at)) return ''
  return ` (for ${spanText(Math.max(0, now - at))}, since ${since})`
}

function isReady(resource: StatedResource | undefined): boolean {
  return resource?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

function causeSentence({ by, name, resource, state, unreadable }: Link, previous: Link, now: number): string {
  const what = `${by === undefined ? '' : `${by}, `}${nameBeside(name, previous.name)},`
  if (unreadable !== undefined) return `It depends on ${what} which cannot be read: ${unreadable.message}.`
  if (state === undefined) return `The cause is ${what} which does not exist.`
  const works = isReady(resource)
  return `It depends on ${what} which ${verbFor(state, works)}${sinceText(state, now)}: ${state.message}.`
}

/** Only exceptions: a running leader is expected. */
function leaderSentence(leader: Leader, state: ResourceState | undefined): readonly string[] {
  switch (leader.type) {
    case 'leading':
      return state?.phase === 'unseen'
        ? [`An operator runs (${leader.holder} in namespace ${leader.namespace}), but has not reported on it.`]
        : []
    case 'silent': {
      const { holder, namespace, release, silentMs } = leader
      const last = holder === undefined ? 'it was released' : `last held by ${holder}`
      const lease = `Lease ${release} in namespace ${namespace}`
      return [`Its operator does not run: ${lease} was last renewed ${spanText(silentMs)} ago (${last}).`]
    }
    case 'none':
      return state?.phase === 'unseen' ? ['No Lease of an operator was found in this cluster.'] : []
    case 'unknown':
      return state?.phase === 'unseen' ? [`Whether an operator runs is unknown: ${leader.error.message}.`] : []
  }
}

function attemptSentence(resource: StatedResource | undefined): readonly string[] {
  const attempt = resource === undefined ? undefined : unresolvedAttempt(resource as CustomResource)
  return attempt === undefined
    ? []
    : [`A create has been sent (attempt ${attempt.number}) whose outcome is not known yet.`]
}

/** What was tried, by the latest warning and how often it came. */
function eventSentence(events: readonly CulvertEvent[], now: number): readonly string[] {
  const warnings = events.filter(({ type }) => type === 'Warning')
  const last = warnings.at(-1)
  if (last === undefined) return []
  const same = warnings.filter(({ reason }) => reason === last.reason)
  const often = same.length === 1 ? 'once' : `${same.length} times`
  const ago = spanText(Math.max(0, now - Date.parse(last.at)))
  return [
    `Culvert reported ${last.reason} about ${last.regarding.kind}/${last.regarding.name} ${often}, last ${ago} ago.`,
  ]
}

/** What was sent last, and how it ended. */
function requestSentence(requests: readonly CulvertEvent[], now: number): readonly string[] {
  const last = requests.at(-1)
  if (last === undefined) return []
  const ago = spanText(Math.max(0, now - Date.parse(last.at)))
  return [`The last request to the API, ${ago} ago, reason ${last.reason}: ${last.note}.`]
}

/** Conditions that say more than the state. */
function sideSentences(
  sides: readonly Side[],
  { name: asked, state }: Link,
  ages: ReadonlyMap<string, string>,
): readonly string[] {
  return sides
    .filter(({ condition }) => condition.message !== state?.message)
    .map(({ name, condition: { type, reason, message } }) => {
      const of = nameText(name) === nameText(asked) ? '' : ` of ${nameBeside(name, asked)}`
      const age = ages.get(nameText(name))
      return `${type}${of} is false (${reason}${age === undefined ? '' : `, ${age}`}): ${message}.`
    })
}

/** Without a problem, only what may have changed since is worth a sentence. */
function ageSentence(sides: readonly Side[], ages: ReadonlyMap<string, string>): readonly string[] {
  const [oldest] = [...ages.values()].filter((age) => age.startsWith('up to '))
  return oldest === undefined || sides.length > 0 ? [] : [`What it shows of tunnels is ${oldest}.`]
}
