import type { RemoteObject } from '../../api/types.ts'
import { ownField } from '../../util/json.ts'
import type { Fields } from '../descriptor/common.ts'
import type { OutputTarget } from '../descriptor/output.ts'
import { reasons } from '../descriptor/reasons.ts'
import { derivedProblem } from '../identity/issued.ts'
import { OUTPUT_KEYS } from '../names.ts'
import { type DataObject, encoded, readTarget, textIn } from '../outputs/place.ts'
import { naming, notOurs, patchTarget, takeOwnership } from '../outputs/take-ownership.ts'
import { templateChanges, templateOfOutput } from '../outputs/template.ts'
import { vacateOthers } from '../outputs/vacate.ts'
import { isMarkedAsOwn, keysNote, keysWritten, ownershipOf } from '../ownership.ts'
import type { Wanted } from '../plan/wanted.ts'
import { TerminalError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'

type Texts = Readonly<Record<string, string>>

/**
 * Writes the derived outputs of a CR whose object equals its spec: only what differs; removes what the spec no longer
 * asks for.
 */
export async function writeDerived(run: Reconciliation, { desired }: Wanted, remote: RemoteObject): Promise<void> {
  const { descriptor, cr } = run
  const { output } = descriptor
  if (output?.type !== 'derived') return
  const target = output.target(cr.spec, cr.metadata.name)
  if (target !== undefined) {
    refuseUnfit(run, desired, remote)
    await put(run, target, output.data(desired, remote))
  }
  await vacateOthers(run, target)
  if (target === undefined) run.note({ output: undefined })
}

/**
 * @throws TerminalError for an answer from which outputs must not be made. What was written before stays: the answer
 *   says nothing about it.
 */
function refuseUnfit(run: Reconciliation, desired: Wanted['desired'], remote: RemoteObject): void {
  const { output } = run.descriptor
  const own = derivedProblem(run, remote)
  const source = output?.type === 'derived' ? output.sourceProblem?.(desired) : undefined
  const problem = own === undefined ? source : `the API answered with ${own}`
  if (problem === undefined) return
  throw new TerminalError(reasons.AnswerRefused, `${problem}: nothing is written, and earlier outputs stay`)
}

async function put(run: Reconciliation, target: OutputTarget, data: Texts): Promise<void> {
  const { cr, context, descriptor } = run
  const found = await naming(target, () => readTarget(context.kube, cr, target))
  const ownership = ownershipOf(found, cr)
  if (ownership.type === 'foreign') throw notOurs(target, ownership.owner)
  const isOurs = found !== undefined && isMarkedAsOwn(found, cr)
  const template = templateOfOutput(descriptor, cr)
  if (!isOurs || templateChanges(found, template) !== undefined || dataChanges(target, found, data) !== undefined) {
    const object = await takeOwnership(run, target)
    const patch = dataChanges(target, object, data)
    if (patch !== undefined) await naming(target, () => patchTarget(run, target, object, patch))
  }
  run.note({ output: { ...target, keys: sortedKeys(data) } })
}

/** The patch after which the object holds the outputs and none of our former ones; undefined if it does already. */
function dataChanges({ kind }: OutputTarget, object: DataObject, data: Texts): Fields | undefined {
  const keys = sortedKeys(data)
  const wrong = keys.filter((key) => textIn(kind, object, key) !== data[key])
  const written = keysWritten(object)
  if (wrong.length === 0 && keysNote(written) === keysNote(keys)) return undefined
  const left = written.filter((key) => ownField(data, key) === undefined)
  const changes = [...wrong.map((key) => [key, encoded(kind, data[key] ?? '')]), ...left.map((key) => [key, null])]
  return { metadata: { annotations: { [OUTPUT_KEYS]: keysNote(keys) } }, data: Object.fromEntries(changes) }
}

function sortedKeys(data: Texts): string[] {
  return Object.keys(data).sort((left, right) => (left < right ? -1 : 1))
}
