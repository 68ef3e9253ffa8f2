import { type Emulator, startEmulator } from '../src/emulator/emulator.ts'
import { quantile } from './quantile.ts'
import type { Row } from './row.ts'

const SMALL = 100
const LARGE = 100_000
const ROUNDS = 300
const WARM_UP = 100
const PAGE = 50

/**
 * Measures list pages of 50 over HTTP. The three kinds of requests alternate, so that load on the machine affects all
 * alike.
 */
export async function run(): Promise<readonly Row[]> {
  const small = await seeded(SMALL)
  const large = await seeded(LARGE)
  try {
    const addresses = [page(small), page(large), page(large, await cursorAt(large, LARGE / 2))] as const
    const [floor, first, middle] = await medians(addresses)
    const load = `emulator: a page of ${PAGE} of ${LARGE}, compared to one of ${SMALL}`
    return [
      { load, figure: 'the first', value: first, unit: 'ms', floor },
      { load, figure: 'one in the middle', value: middle, unit: 'ms', floor },
    ]
  } finally {
    await small.close()
    await large.close()
  }
}

interface Target {
  readonly url: string
  readonly key: string
}

async function seeded(count: number): Promise<Emulator> {
  const emulator = await startEmulator()
  emulator.admin.seed({ bulk: [{ collection: 'ip_policies', count, body: { description: 'policy {n}' } }] })
  return emulator
}

function page(emulator: Emulator, beforeId?: string): Target {
  const query = new URLSearchParams({ limit: String(PAGE), ...(beforeId === undefined ? {} : { before_id: beforeId }) })
  return { url: `${emulator.url}/ip_policies?${query}`, key: emulator.apiKey }
}

/** The id of the object at a position, oldest first. */
async function cursorAt(emulator: Emulator, position: number): Promise<string> {
  const ids = emulator.admin.snapshot().accounts[emulator.account]?.objects.ip_policies?.map((object) => object.id)
  return String(ids?.[position])
}

async function medians(targets: readonly [Target, Target, Target]): Promise<[number, number, number]> {
  const samples: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    for (const [index, target] of targets.entries()) {
      const elapsed = await timed(target)
      if (round >= WARM_UP) samples[index]?.push(elapsed)
    }
  }
  return [quantile(samples[0], 0.5), quantile(samples[1], 0.5), quantile(samples[2], 0.5)]
}

async function timed({ url, key }: Target): Promise<number> {
  const start = performance.now()
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}`, 'service-version': '2' } })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`the list was answered ${response.status}: ${text}`)
  return performance.now() - start
}
