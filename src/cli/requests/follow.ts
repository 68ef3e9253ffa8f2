import type { KubeObject, ResourceType } from '../../kube/types.ts'
import { resourceTypeOf } from '../../managed/kinds-registry.ts'
import type { Cluster } from '../cluster/ask-cluster.ts'
import { CommandError } from '../cluster/command-error.ts'
import { argumentsFor, argumentText, type ResourceArgument } from '../cluster/resource-argument.ts'
import { type StatedResource, stateOf } from '../cluster/resource-state.ts'
import { wrap } from '../terminal/line.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { isOver, type SentRequest } from './request.ts'

/** Exit codes of `--wait`. */
const DONE = 0
const STALLED = 1
const TIMED_OUT = 2

/**
 * Shows the conditions of a resource as they change, until its request is carried out and it is at rest.
 *
 * @returns the exit code: 0 at rest; 1 stalled, and a person has to act; 2 not at rest within `timeoutMs`
 */
export async function followRequest(cluster: Cluster, sent: SentRequest, timeoutMs: number): Promise<number> {
  const { clock, out } = cluster
  const { resource } = sent
  const began = clock.monotonic()
  const ended = new AbortController()
  const cancel = clock.setTimer(timeoutMs, () => ended.abort())
  const shown = new Map<string, string>()
  try {
    for await (const object of versionsOf(cluster, sent, ended.signal)) {
      const seconds = ((clock.monotonic() - began) / 1000).toFixed(1)
      for (const line of changedConditions(object, shown)) printChange(out, `${seconds} s`, line)
      if (!isOver(sent, object)) continue
      if (stateOf(object).phase !== 'stalled') return DONE
      if (sent.verb === 'command') printEnd(out, resource, 'has failed. Why')
      else printEnd(out, resource, 'is stalled. What it waits for')
      return STALLED
    }
  } finally {
    cancel()
    ended.abort()
  }
  const state = sent.verb === 'command' ? 'over' : 'at rest'
  printEnd(out, resource, `is not ${state} after ${timeoutMs / 1000} s. What it waits for`)
  return TIMED_OUT
}

/** Width of the times, and of the gap behind them. */
const TIMES = 10

function printChange({ print, width }: Terminal, at: string, change: string): void {
  for (const [index, line] of wrap(change, width - TIMES, '  ').entries()) {
    print(`${`${index === 0 ? at : ''}  `.padStart(TIMES)}${line}`)
  }
}

function printEnd({ print, width }: Terminal, resource: ResourceArgument, how: string): void {
  for (const line of wrap(`${argumentText(resource)} ${how}:`, width)) print(line)
  print(`  culvert why ${argumentsFor(resource)}`)
}

/** The conditions that differ from what was shown, one line each. */
function changedConditions(object: StatedResource, shown: Map<string, string>): readonly string[] {
  const lines: string[] = []
  const conditions = new Map(object.status?.conditions?.map((condition) => [condition.type, condition]))
  for (const [type, { status, reason, message }] of conditions) {
    const line = `${type} ${status}  ${reason}: ${message}`
    if (shown.get(type) !== line) lines.push(line)
    shown.set(type, line)
  }
  for (const type of [...shown.keys()].filter((each) => !conditions.has(each))) {
    lines.push(`${type} is over`)
    shown.delete(type)
  }
  return lines
}

/** Longest watch; the server ends it, and another one goes on where it ended. */
const WATCH_SECONDS = 300

/**
 * The resource as it was written, and each version that follows, until `signal` is aborted.
 *
 * @throws CommandError `NotFound` when it is deleted
 */
async function* versionsOf(
  { kube }: Cluster,
  { resource, object }: SentRequest,
  signal: AbortSignal,
): AsyncGenerator<StatedResource> {
  const type: ResourceType = resourceTypeOf(resource.descriptor)
  const { namespace } = resource
  let { resourceVersion } = object.metadata
  yield object
  while (!signal.aborted) {
    const options = { namespace, resourceVersion, timeoutSeconds: WATCH_SECONDS, signal }
    for await (const frame of kube.watch<StatedResource>(type, resource.name, options)) {
      if (frame.type === 'bookmark') {
        resourceVersion = frame.resourceVersion
        continue
      }
      if (frame.type === 'deleted' || isAnother(frame.object, object)) {
        throw new CommandError('NotFound', `${argumentText(resource)} was deleted`)
      }
      resourceVersion = frame.object.metadata.resourceVersion
      yield frame.object
    }
  }
}

function isAnother(object: KubeObject, former: KubeObject): boolean {
  return object.metadata.uid !== former.metadata.uid
}
