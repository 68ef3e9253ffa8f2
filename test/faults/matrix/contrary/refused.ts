import { type Alternative, DECIDED, withAlternative } from '../../../../src/emulator/choices/choices.ts'
import { Oracle } from '../../simulation/oracle.ts'
import type { Laboratory } from '../../simulation/world.ts'

/** Between two retries of ten minutes, whatever a tenth of jitter makes of each. */
const WATCHED_MS = 25 * 60_000
const LOOK_MS = 5_000

/** The outcome of a resource whose create is refused every time. */
export interface Refused {
  /** How often it was sent. */
  readonly posts: number
  /** What the condition Synced said, without repetitions. */
  readonly said: readonly string[]
  /** Its last message. */
  readonly message: string | undefined
}

/** Applies a ReservedDomain whose domain is taken, to a server that makes this choice. */
export async function refusedForGood(laboratory: Laboratory, alternative: Alternative): Promise<Refused> {
  const world = laboratory.world({
    kinds: new Set(['ReservedDomain']),
    choices: withAlternative(DECIDED, alternative),
  })
  try {
    const oracle = await Oracle.watch(world)
    await world.api.ask('POST', '/reserved_domains', { domain: 'taken.tunnel.example' })
    world.apply('ReservedDomain', 'late', { domain: 'taken.tunnel.example' })
    const said: string[] = []
    let message: string | undefined
    for (const end = world.time.now + WATCHED_MS; world.time.now < end; ) {
      await world.advance(LOOK_MS)
      const synced = world.get('ReservedDomain', 'late')?.status?.conditions?.find(({ type }) => type === 'Synced')
      if (synced !== undefined && said.at(-1) !== synced.reason) said.push(synced.reason)
      message = synced?.message
    }
    const posts = oracle.writes.filter(({ server, method }) => server === 'api' && method === 'POST').length
    return { posts, said, message }
  } finally {
    world.down()
  }
}
