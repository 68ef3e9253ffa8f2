import { DECIDED, withAlternative } from '../../../../src/emulator/choices/choices.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import { Oracle } from '../../simulation/oracle.ts'
import type { Laboratory, SimulatedWorld } from '../../simulation/world.ts'

const HOURS_MS = 3 * 3_600_000

/** What came of a Backend at a server that keeps descriptions in its own way. */
export interface Kept {
  /** Writes to the API until it was at rest, and within three hours from then on. */
  readonly writes: readonly string[]
  readonly later: readonly string[]
  readonly conditions: CustomResource['status']
}

/** Makes a backend with such a description. */
export async function keptOtherwise(
  laboratory: Laboratory,
  alternative: Parameters<typeof withAlternative>[1],
  description: string,
): Promise<Kept> {
  const choices = withAlternative(DECIDED, alternative)
  const world = laboratory.world({ kinds: new Set(['Backend']), choices })
  try {
    const oracle = await Oracle.watch(world)
    oracle.allow({ refused: ['Rejected'] })
    world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: {}, description })
    await world.until(() => isSaid(world), 60_000)
    await world.advance(5_000)
    const sent = (): readonly string[] =>
      oracle.writes
        .filter(({ server }) => server === 'api')
        .map(({ method, path }) => `${method} /${path.split('/')[1]}`)
    const writes = sent()
    await world.advance(HOURS_MS)
    return { writes, later: sent().slice(writes.length), conditions: world.get('Backend', 'web')?.status }
  } finally {
    world.down()
  }
}

function isSaid(world: SimulatedWorld): boolean {
  return world.get('Backend', 'web')?.status?.conditions?.some(({ type }) => type === 'Synced') ?? false
}
