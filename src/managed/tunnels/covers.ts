/**
 * Whether an object that the API server has stored says all that is wanted of it: it may have more fields, which are
 * defaults, and more keys of maps, but lists have exactly the wanted entries. Null is wanted of a field to be absent.
 * The server leaves out empty texts and lists, and writes quantities in its own way, `500m` in place of `0.5`.
 */
export function covers(stored: unknown, wanted: unknown): boolean {
  if (wanted === '' && stored === undefined) return true
  if (Array.isArray(wanted)) {
    const entries: unknown = stored ?? []
    return (
      Array.isArray(entries) &&
      entries.length === wanted.length &&
      wanted.every((entry, index) => covers(entries[index], entry))
    )
  }
  if (wanted === null) return stored === undefined || stored === null
  if (typeof wanted === 'string' && typeof stored === 'string') return stored === wanted || isSameAmount(stored, wanted)
  if (typeof wanted !== 'object') return stored === wanted
  if (typeof stored !== 'object' || stored === null) return Object.keys(wanted).length === 0 && stored === undefined
  return Object.entries(wanted).every(([name, value]) => covers(Reflect.get(stored, name), value))
}

const QUANTITY = /^(?<number>\d{1,15}(?:\.\d{1,3})?)(?<unit>[numkKMGT]i?)?$/
const DECIMAL: Readonly<Record<string, number>> = { n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12 }
const BINARY: Readonly<Record<string, number>> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 }

function isSameAmount(left: string, right: string): boolean {
  const [one, other] = [amountOf(left), amountOf(right)]
  if (one === undefined || other === undefined) return false
  return Math.abs(one - other) <= Math.max(one, other) * 1e-12
}

/** A quantity of Kubernetes as a number; undefined for another text. */
function amountOf(text: string): number | undefined {
  const { number, unit } = QUANTITY.exec(text)?.groups ?? {}
  const factor = unit === undefined ? 1 : (DECIMAL[unit] ?? BINARY[unit])
  return number === undefined || factor === undefined ? undefined : Number(number) * factor
}
