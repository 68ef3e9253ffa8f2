import { pathToFileURL } from 'node:url'
import { type Emulator, startEmulator } from '../src/emulator/emulator.ts'

const SMALL = 100
const LARGE = 100_000
const ROUNDS = 300
const WARM_UP = 100
const PAGE = 50

/** The cost of a list page in a small and in a large collection. */
export interface PagingResult {
  /** Median milliseconds of the first page with 100 objects. */
  readonly smallMs: number
  /** Median milliseconds of the first page with 100,000 objects. */
  readonly largeFirstMs: number
  /** Median milliseconds of a page in the middle of 100,000 objects. */
  readonly largeMiddleMs: number
  /** The slower of the two large figures divided by the small one; around 1 if the size does not matter. */
  readonly ratio: number
}

/**
 * Measures list pages of 50 over HTTP. The three kinds of requests alternate, so that load on the machine affects all
 * alike.
 */
export async function run(): Promise<PagingResult> {
  const small = await seeded(SMALL)
  const large = await seeded(LARGE)
  try {
    const addresses = [page(small), page(large), page(large, await cursorAt(large, LARGE / 2))] as const
    const [smallMs, largeFirstMs, largeMiddleMs] = await medians(addresses)
    return { smallMs, largeFirstMs, largeMiddleMs, ratio: Math.max(largeFirstMs, largeMiddleMs) / smallMs }
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
  return [median(samples[0]), median(samples[1]), median(samples[2])]
}

async function timed({ url, key }: Target): Promise<number> {
  const start = performance.now()
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}`, 'service-version': '2' } })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`the list was answered ${response.status}: ${text}`)
  return performance.now() - start
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const result = await run()
  const shown = (ms: number): string => `${ms.toFixed(2)} ms`
  process.stdout.write(
    `a page of ${PAGE}: ${shown(result.smallMs)} of ${SMALL}, ${shown(result.largeFirstMs)} of ${LARGE} (first), ` +
      `${shown(result.largeMiddleMs)} (middle); ratio ${result.ratio.toFixed(2)}\n`,
  )
}
