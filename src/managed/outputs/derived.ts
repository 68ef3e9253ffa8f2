import type { RemoteObject } from '../../api/types.ts'
import type { Wanted } from '../desired.ts'
import type { Reconciliation } from '../reconciliation.ts'
import type { OutputTarget } from '../types/descriptor.ts'
import { claim, naming, notOurs, patchTarget } from './claim.ts'
import { encoded, readTarget, textIn } from './place.ts'
import { tenureOf } from './tenure.ts'
import { vacate } from './vacate.ts'

type Texts = Readonly<Record<string, string>>

/**
 * Writes the derived outputs of a CR whose object equals its spec: only what differs, and takes away what the spec does not ask for
 * any more.
 */
export async function writeDerived(run: Reconciliation, { desired }: Wanted, remote: RemoteObject): Promise<void> {
  const { descriptor, cr, status } = run
  const { output } = descriptor
  if (output?.type !== 'derived') return
  const target = output.target(cr.spec, cr.metadata.name)
  const former = status.output
  if (target !== undefined) await put(run, target, output.data(desired, remote))
  const moved = former !== undefined && (former.kind !== target?.kind || former.name !== target.name)
  if (moved) await vacate(run, former, former.keys)
  if (target === undefined) run.note({ output: undefined })
}

async function put(run: Reconciliation, target: OutputTarget, data: Texts): Promise<void> {
  const { cr, context, status } = run
  const found = await naming(target, () => readTarget(context.kube, cr, target))
  const tenure = tenureOf(found, cr)
  if (tenure.type === 'foreign') throw notOurs(target, tenure.owner)
  const { output } = status
  const before = output?.kind === target.kind && output.name === target.name ? output.keys : []
  const wrong = Object.keys(data).filter((key) => textIn(target.kind, found, key) !== data[key])
  const left = before.filter((key) => data[key] === undefined && textIn(target.kind, found, key) !== undefined)
  if (tenure.type !== 'own' || wrong.length > 0 || left.length > 0) {
    const changes = [
      ...wrong.map((key) => [key, encoded(target.kind, data[key] ?? '')]),
      ...left.map((key) => [key, null]),
    ]
    const object = await claim(run, target)
    await naming(target, () => patchTarget(run, target, object, { data: Object.fromEntries(changes) }))
  }
  run.note({ output: { ...target, keys: Object.keys(data).toSorted((left, right) => (left < right ? -1 : 1)) } })
}
