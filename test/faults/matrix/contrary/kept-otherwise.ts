import { DECIDED, withAlternative } from '../../../../src/emulator/choices/choices.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import type { Manifest } from '../../../kinds/kind-test-data.ts'
import { Oracle } from '../../simulation/oracle.ts'
import type { Laboratory } from '../../simulation/world.ts'

const HOURS_MS = 3 * 3_600_000

/** The outcome of a resource whose object the server stores or shows in its own way. */
export interface Kept {
  /** Writes to the API until it was at rest, and within the three hours after that. */
  readonly writes: readonly string[]
  readonly later: readonly string[]
  readonly conditions: CustomResource['status']
}

/** Applies the resource to a server that makes this choice. */
export async function keptOtherwise(
  laboratory: Laboratory,
  alternative: Parameters<typeof withAlternative>[1],
  { kind, name, spec }: Manifest,
): Promise<Kept> {
  const choices = withAlternative(DECIDED, alternative)
  const world = laboratory.world({ kinds: new Set([kind]), choices })
  try {
    const oracle = await Oracle.watch(world)
    oracle.allow({ refused: ['Rejected'] })
    const conditions = () => world.get(kind, name)?.status
    world.apply(kind, name, spec)
    await world.until(() => isSaid(conditions()), 60_000)
    await world.advance(5_000)
    const sent = (): readonly string[] =>
      oracle.writes
        .filter(({ server }) => server === 'api')
        .map(({ method, path }) => `${method} /${path.split('/')[1]}`)
    const writes = sent()
    await world.advance(HOURS_MS)
    return { writes, later: sent().slice(writes.length), conditions: conditions() }
  } finally {
    world.down()
  }
}

function isSaid(status: CustomResource['status']): boolean {
  return status?.conditions?.some(({ type }) => type === 'Synced') ?? false
}
