import type { KubeObject, ObjectKey } from '../../kube/types.ts'
import { isPaused } from '../../managed/cr.ts'
import { resourceTypeOf } from '../../managed/kinds-registry.ts'
import { PAUSED } from '../../managed/names.ts'
import { answersRequest, openRequest, requestAnnotation } from '../../managed/run/requests.ts'
import { equalJSON } from '../../util/json.ts'
import type { Cluster } from '../cluster/ask-cluster.ts'
import { CommandError } from '../cluster/command-error.ts'
import { readNamed } from '../cluster/read-named.ts'
import { argumentsFor, argumentText, type ResourceArgument } from '../cluster/resource-argument.ts'
import { isAtRest, type StatedResource, stateOf } from '../cluster/resource-state.ts'

/** What a person asks of a resource by an annotation. */
export type Verb = 'reconcile' | 'pause' | 'resume' | 'rotate'

/** One request to one resource. */
export interface Request {
  readonly verb: Verb
  readonly resource: ResourceArgument
}

/** A request, or an approval, that was written into the resource; or a command, which is the resource. */
export interface SentRequest extends Omit<Request, 'verb'> {
  readonly verb: Verb | 'approve' | 'command'
  /** The resource as it was written. */
  readonly object: StatedResource
  /** What was done, for people. */
  readonly summary: string
}

/**
 * Writes a request into the annotations of its resource.
 *
 * @throws CommandError naming what the resource lacks: it does not exist, its kind does not answer the request, or it
 *   is paused
 */
export async function sendRequest(cluster: Cluster, { verb, resource }: Request): Promise<SentRequest> {
  const { kube, clock } = cluster
  const type = resourceTypeOf(resource.descriptor)
  refuseUnanswered(cluster, { verb, resource })
  const key: ObjectKey = resource
  const found = await readNamed(cluster, resource)
  const annotate = (name: string, value: string | null): Promise<StatedResource> => {
    return kube.mergePatch<StatedResource>(type, key, { metadata: { annotations: { [name]: value } } })
  }
  const sent = (object: StatedResource, what: string): SentRequest => {
    return { verb, resource, object, summary: `${argumentText(resource)}: ${what}` }
  }
  switch (verb) {
    case 'pause':
      if (isPaused(found)) return sent(found, 'is paused already')
      return sent(await annotate(PAUSED, 'true'), 'paused; Culvert does not change it or its object')
    case 'resume':
      if (!isPaused(found)) return sent(found, 'is not paused')
      return sent(await annotate(PAUSED, null), 'resumed')
    case 'reconcile':
    case 'rotate': {
      refusePaused(resource, found)
      const asked = await annotate(requestAnnotation(verb), new Date(clock.now()).toISOString())
      return sent(asked, verb === 'rotate' ? 'requested a new token or key' : 'requested a read')
    }
  }
}

/** Words in a list: `a, b and c`. */
const WORDS = new Intl.ListFormat('en-GB')

function refuseUnanswered({ kinds }: Cluster, { verb, resource: { descriptor } }: Request): void {
  if (verb === 'pause' || verb === 'resume' || answersRequest(descriptor.definition, verb)) return
  const answering = kinds.all.filter(({ definition }) => answersRequest(definition, verb))
  const { kind } = descriptor.definition
  const names = answering.map(({ definition }) => definition.kind)
  const remedy = names.length > 5 ? '' : `: only ${WORDS.format(names)} can`
  throw new CommandError('BadArgument', `culvert ${verb}: not supported for ${kind}${remedy}`)
}

function refusePaused(resource: ResourceArgument, found: KubeObject): void {
  if (!isPaused(found)) return
  throw new CommandError(
    'Refused',
    `${argumentText(resource)} is paused and not reconciled until it is resumed`,
    `culvert resume ${argumentsFor(resource)}`,
  )
}

/** Whether a request is carried out, and nothing more happens for it by itself. */
export function isOver({ verb, resource, object: asked }: SentRequest, object: StatedResource): boolean {
  const state = stateOf(object)
  switch (verb) {
    case 'pause':
      return isPaused(object) && (resource.descriptor.role !== 'managed' || reportsPause(object))
    case 'resume':
      return !isPaused(object) && !reportsPause(object) && isAtRest(state)
    case 'reconcile':
      return openRequest(object, verb) === undefined && isAtRest(state)
    case 'approve':
      return !equalJSON(object.status?.plan, asked.status?.plan) && isAtRest(state)
    case 'command':
      return object.status?.finishedAt !== undefined
    case 'rotate':
      // A resource that cannot be rotated at present says so, and keeps the request for later.
      return isAtRest(state) && (openRequest(object, verb) === undefined || state.phase === 'stalled')
  }
}

/** Only managed kinds report a pause. */
function reportsPause({ status }: StatedResource): boolean {
  return status?.conditions?.some(({ type, reason }) => type === 'Synced' && reason === 'Paused') ?? false
}
