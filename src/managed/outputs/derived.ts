import type { RemoteObject } from '../../api/types.ts'
import type { Wanted } from '../desired.ts'
import { OUTPUT_KEYS } from '../names.ts'
import type { Reconciliation } from '../reconciliation.ts'
import type { OutputTarget } from '../types/descriptor.ts'
import { claim, naming, notOurs, patchTarget } from './claim.ts'
import { encoded, readTarget, textIn } from './place.ts'
import { isClaimed, keysNote, keysWritten, tenureOf } from './tenure.ts'
import { vacateOthers } from './vacate.ts'

type Texts = Readonly<Record<string, string>>

/**
 * Writes the derived outputs of a CR whose object equals its spec: only what differs, and takes away what the spec does not ask for
 * any more.
 */
export async function writeDerived(run: Reconciliation, { desired }: Wanted, remote: RemoteObject): Promise<void> {
  const { descriptor, cr } = run
  const { output } = descriptor
  if (output?.type !== 'derived') return
  const target = output.target(cr.spec, cr.metadata.name)
  if (target !== undefined) await put(run, target, output.data(desired, remote))
  await vacateOthers(run, target)
  if (target === undefined) run.note({ output: undefined })
}

async function put(run: Reconciliation, target: OutputTarget, data: Texts): Promise<void> {
  const { cr, context } = run
  const found = await naming(target, () => readTarget(context.kube, cr, target))
  const tenure = tenureOf(found, cr)
  if (tenure.type === 'foreign') throw notOurs(target, tenure.owner)
  const keys = Object.keys(data).sort((left, right) => (left < right ? -1 : 1))
  const wrong = keys.filter((key) => textIn(target.kind, found, key) !== data[key])
  const left = keysWritten(found).filter((key) => data[key] === undefined)
  const isSame = wrong.length === 0 && keysNote(keysWritten(found)) === keysNote(keys)
  if (found === undefined || !isSame || !isClaimed(found, cr)) {
    const object = await claim(run, target)
    const changes = [
      ...wrong.map((key) => [key, encoded(target.kind, data[key] ?? '')]),
      ...left.map((key) => [key, null]),
    ]
    const patch = { metadata: { annotations: { [OUTPUT_KEYS]: keysNote(keys) } }, data: Object.fromEntries(changes) }
    await naming(target, () => patchTarget(run, target, object, patch))
  }
  run.note({ output: { ...target, keys } })
}
