import { type ResourceName, shortName } from '../../managed/cr.ts'
import { writeCommand } from '../../managed/kubectl.ts'
import { type Leader, leaderOf, type OperatorFlags } from '../cluster/operator-lease.ts'
import { type StatedResource, stateOf } from '../cluster/resource-state.ts'
import { spanText } from '../terminal/line.ts'
import { syncState } from '../tree/tree-lines.ts'
import { findCauses, ownSides } from '../why/causes.ts'
import { namedFor, remedyOf, sideRemedy } from '../why/remedy.ts'
import { answerText } from './backend-tree.ts'
import {
  type EdgePicture,
  type EdgeStep,
  hostsOf,
  type Look,
  type Lookup,
  type Part,
  pictureOf,
  worst,
} from './edge-steps.ts'
import type { LiveResources } from './live-resources.ts'

/** Who may connect, by what the API last said. */
export type Access = 'everyone' | 'addresses' | 'certificates' | 'unknown'

/** An edge in the list of the page. */
export interface EdgeRow {
  /** `namespace/name` */
  readonly id: string
  readonly look: Look
  readonly state: string
  /** What is wrong. */
  readonly message: string | undefined
  readonly hosts: readonly string[]
  readonly access: Access
  readonly answers: string
  /** Since when it is as it is, RFC 3339. */
  readonly since: string | undefined
}

/** One edge, in the order in which a connection is judged. */
export interface EdgeLine {
  readonly id: string
  readonly steps: readonly (Omit<EdgeStep, 'parts'> & { readonly parts: readonly ShownPart[] })[]
  /** The first step that fails; undefined: none does. */
  readonly failing: string | undefined
  /** What fails, as a sentence, and what to do. */
  readonly sentence: string | undefined
  readonly remedy: string | undefined
  readonly command: string | undefined
}

/** A part without its resource, which stays here. */
export type ShownPart = Omit<Part, 'resource' | 'inSpec'>

const ACCESS: Readonly<Record<string, Access>> = {
  Public: 'everyone',
  Restricted: 'addresses',
  MutualTLS: 'certificates',
}

/** Rows of all edges. A row is made again only when something that it shows has changed. */
export class EdgeRows {
  readonly #live: LiveResources
  #known = new Map<StatedResource, { readonly row: EdgeRow; readonly used: readonly Use[] }>()
  #restrictions: readonly StatedResource[] = []

  constructor(live: LiveResources) {
    this.#live = live
  }

  /** All rows, by id. */
  current(): ReadonlyMap<string, EdgeRow> {
    const restrictions = this.#live.list('IPRestriction')
    const before = this.#restrictions
    if (restrictions.some((each, index) => before[index] !== each) || before.length !== restrictions.length) {
      this.#known = new Map()
      this.#restrictions = restrictions
    }
    const former = this.#known
    this.#known = new Map()
    const rows = new Map<string, EdgeRow>()
    for (const edge of this.#live.list('Edge')) {
      const held = former.get(edge)
      const isSame = held?.used.every(({ name, found }) => this.#live.get(name) === found)
      const entry = held !== undefined && isSame ? held : this.#make(edge)
      this.#known.set(edge, entry)
      rows.set(entry.row.id, entry.row)
    }
    return rows
  }

  #make(edge: StatedResource): { readonly row: EdgeRow; readonly used: readonly Use[] } {
    const used: Use[] = []
    const lookup: Lookup = {
      kinds: this.#live.cluster.kinds,
      list: (kind) => this.#live.list(kind),
      get: (name) => {
        const found = this.#live.get(name)
        used.push({ name, found })
        return found
      },
    }
    return { row: rowOf(edge, pictureOf(lookup, edge)), used }
  }
}

/** A resource that a row shows, as it was. */
interface Use {
  readonly name: ResourceName
  readonly found: StatedResource | undefined
}

/** `namespace/name` of an edge, as pages and addresses name it. */
function edgeId({ metadata: { namespace = '', name } }: StatedResource): string {
  return `${namespace}/${name}`
}

/** The row of an edge. */
function rowOf(edge: StatedResource, { steps, backend }: EdgePicture): EdgeRow {
  const own = syncState({ name: edge.metadata.name, resource: edge })
  const first = firstFailing(steps)
  const isOwn = own.style !== 'green'
  const warning = steps.flatMap(({ parts }) => parts).find(({ look }) => look === 'warn')
  const shownPart = first?.part ?? warning
  const state = stateOf(edge)
  return {
    id: edgeId(edge),
    look: first?.part.look ?? worst(steps.map(({ look }) => look)),
    state: isOwn ? own.word : first !== undefined ? 'Fails' : warning === undefined ? 'Works' : 'Degraded',
    message: shownPart === undefined ? own.message : failureText(shownPart),
    hosts: hostsOf(edge),
    access: ACCESS[String(edge.status?.access)] ?? 'unknown',
    answers: backend === undefined ? 'nobody: no backend' : answerText(backend),
    since: isOwn || backend?.serves !== 'no' ? state.since : (backend.since ?? state.since),
  }
}

/** A part that fails, with its step. */
interface Failure {
  readonly step: EdgeStep
  readonly part: Part
}

/** The first part that fails; while the edge itself does not work, one that still waits counts too. */
function firstFailing(steps: readonly EdgeStep[]): Failure | undefined {
  const all = steps.flatMap((step) => step.parts.map((part) => ({ step, part })))
  const bad = all.find(({ part }) => part.look === 'bad')
  if (bad !== undefined) return bad
  const [own, ...others] = all
  if (own?.part.look !== 'warn') return undefined
  // What it waits for explains more than the wait.
  return others.find(({ part }) => part.look === 'warn' && part.label !== undefined) ?? own
}

function failureText({ text, detail }: Part): string {
  return detail === undefined ? text : `${text}: ${detail}`
}

/** The line of an edge, with the remedy that `culvert why` has for what fails. */
export async function lineOf(live: LiveResources, edge: StatedResource, flags: OperatorFlags): Promise<EdgeLine> {
  const { cluster } = live
  const { kinds } = cluster
  const lookup: Lookup = { kinds, get: (name) => live.get(name), list: (kind) => live.list(kind) }
  const picture = pictureOf(lookup, edge)
  const found = firstFailing(picture.steps)
  const leader = await leaderOf(cluster.kube, cluster.clock, flags)
  const operator = operatorPart(leader)
  const steps = picture.steps.map((step) =>
    step.kind === 'control' ? { ...step, parts: [...step.parts, operator] } : step,
  )
  const failure = found === undefined ? undefined : await explain(live, edge, { ...found, leader })
  return {
    id: edgeId(edge),
    steps: steps.map((step) => ({ ...step, parts: step.parts.map(shown) })),
    failing: found?.step.kind,
    sentence: found === undefined ? undefined : `${failureText(found.part)}.`,
    remedy: failure?.text === '' ? undefined : failure?.text,
    command: failure?.command,
  }
}

function shown({ resource, inSpec, ...part }: Part): ShownPart {
  return part
}

/** An operator that does not run explains why nothing changes, and not why a connection is refused. */
function operatorPart(leader: Leader): Part {
  switch (leader.type) {
    case 'leading':
      return { text: `Operator in namespace ${leader.namespace}`, label: 'Runs', look: 'ok' }
    case 'silent': {
      const detail = `it last renewed its Lease ${spanText(leader.silentMs)} ago: nothing shown here is newer`
      return { text: `Operator in namespace ${leader.namespace}`, label: 'Silent', look: 'warn', detail }
    }
    case 'none':
      return { text: 'Operator', label: 'Unknown', look: 'idle', detail: 'no Lease of an operator was found' }
    case 'unknown':
      return { text: 'Operator', label: 'Unknown', look: 'idle', detail: leader.error.message }
  }
}

async function explain(
  live: LiveResources,
  edge: StatedResource,
  { part, leader }: Failure & { readonly leader: Leader },
): Promise<{ readonly text: string; readonly command: string | undefined }> {
  const snapshot = live.snapshot()
  const named = (name: ResourceName) => namedFor(snapshot, name)
  const asked = part.resource ?? edge
  const links = await findCauses(snapshot, asked)
  const [root] = links.toReversed()
  if (root === undefined) throw new Error('the way to a cause begins with the resource itself')
  const own = named(root.name)
  if (part.inSpec)
    return { text: `Change the spec of ${shortName(root.name)}.`, command: writeCommand('edit', own.kubectl) }
  const { text, command } = remedyOf(root, leader, own, live.cluster.clock.now())
  if (text !== '') return { text, command }
  const side = sideRemedy(ownSides(asked), named)
  return side.command === undefined ? { text: '', command: writeCommand('edit', own.kubectl) } : side
}
