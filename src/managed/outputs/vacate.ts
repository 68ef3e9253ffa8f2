import { statusOf } from '../cr.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { OutputTarget } from '../descriptor/output.ts'
import { CREATE_NONCE, OUTPUT_KEYS, OUTPUT_OF, REMOTE_ID, RESERVED_FOR, TOKEN_DIGEST } from '../names.ts'
import { keysWritten, LABELS, noteOf, withoutOwner } from '../ownership.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { companionTarget } from './companion.ts'
import { type Holder, outputTarget, type Place } from './place.ts'
import { deleteFound, patchTarget, withOwned } from './take-ownership.ts'
import { NO_TEMPLATE, templateChanges } from './template.ts'

/**
 * Removes the CR's outputs from every object but `target`: those that an earlier spec named, and those that were
 * reserved when the spec changed.
 */
export async function vacateOthers(run: Reconciliation, target: OutputTarget | undefined): Promise<void> {
  const { context, cr } = run
  const { output } = statusOf(cr)
  // The watch may lag behind; the status does not.
  const places = [...context.resources.outputsOf(cr), ...(output === undefined ? [] : [output])]
  const seen = new Set([target === undefined ? '' : `${target.kind}/${target.name}`])
  for (const { kind, name } of places) {
    if (seen.has(`${kind}/${name}`)) continue
    seen.add(`${kind}/${name}`)
    await vacate(run, { kind, name })
  }
}

/**
 * Deletes an object that holds only our keys. One with other keys stays, without our keys and our owner reference; our
 * annotation remains, since a spec may name it again.
 */
async function vacate(run: Reconciliation, place: OutputTarget): Promise<void> {
  const { cr } = run
  const { output } = statusOf(cr)
  await withOwned(run, place, async (found) => {
    const noted = output?.kind === place.kind && output.name === place.name ? output.keys : []
    const keys = [...keysWritten(found), ...noted]
    const others = Object.keys(found.data ?? {}).filter((key) => !keys.includes(key))
    if (others.length === 0) {
      await deleteFound(run, place, found)
    } else if (keys.length > 0) {
      const { annotations, labels } = templateChanges(found, NO_TEMPLATE) ?? {}
      await patchTarget(run, place, found, {
        metadata: {
          ownerReferences: withoutOwner(found, cr),
          annotations: {
            ...annotations,
            [OUTPUT_OF]: noteOf(cr),
            ...removed([REMOTE_ID, CREATE_NONCE, TOKEN_DIGEST, RESERVED_FOR, OUTPUT_KEYS]),
          },
          labels: { ...labels, ...removed(Object.keys(LABELS)) },
        },
        data: removed(keys),
      })
    }
  })
}

function removed(names: readonly string[]): Readonly<Record<string, null>> {
  return Object.fromEntries(names.map((name) => [name, null]))
}

/**
 * Releases the objects with outputs, and the companion if it may be written: without the owner reference, the garbage
 * collector leaves them alone. The annotation records that they were Culvert's.
 * @returns what was released; nothing the second time.
 */
export async function release(
  holder: Holder & { readonly descriptor: ManagedDescriptor },
  { companion }: { readonly companion: boolean },
): Promise<readonly Place[]> {
  const { output } = statusOf(holder.cr)
  const { descriptor, cr } = holder
  const all = [outputTarget(descriptor, cr), output, companion ? companionTarget(descriptor, cr) : undefined]
  const places = all.filter((place) => place !== undefined)
  const released: Place[] = []
  for (const place of places) {
    await withOwned(holder, place, async (found) => {
      const annotations = { [OUTPUT_OF]: noteOf(holder.cr) }
      const ownerReferences = withoutOwner(found, holder.cr)
      await patchTarget(holder, place, found, { metadata: { ownerReferences, annotations } })
      released.push(place)
    })
  }
  return released
}
