/**
 * Whether an object that the API server has stored says all that is wanted of it: it may have more fields, which are
 * defaults, and more keys of maps. Null is wanted of a field to be absent. The server leaves out empty texts and lists,
 * and writes quantities in its own way, `500m` instead of `0.5`, and `1` as text.
 *
 * @param lists `exact`: lists have exactly the wanted entries; `longer`: others too, which a webhook has added
 */
export function covers(stored: unknown, wanted: unknown, lists: 'exact' | 'longer' = 'exact'): boolean {
  if (wanted === '' && stored === undefined) return true
  if (Array.isArray(wanted)) {
    const entries: unknown = stored ?? []
    if (!Array.isArray(entries)) return false
    if (lists === 'longer') return wanted.every((entry) => entries.some((each) => covers(each, entry, lists)))
    return entries.length === wanted.length && wanted.every((entry, index) => covers(entries[index], entry))
  }
  if (wanted === null) return stored === undefined || stored === null
  if (typeof stored === 'string' && (typeof wanted === 'string' || typeof wanted === 'number')) {
    return stored === wanted || isSameAmount(stored, String(wanted))
  }
  if (typeof wanted !== 'object') return stored === wanted
  if (typeof stored !== 'object' || stored === null) return Object.keys(wanted).length === 0 && stored === undefined
  return Object.entries(wanted).every(([name, value]) => covers(Reflect.get(stored, name), value, lists))
}

const QUANTITY =
  /^(?<number>\+?(?:\d{1,18}\.?\d{0,9}|\.\d{1,9}))(?:[eE](?<exponent>[-+]?\d{1,2})|(?<unit>[numkKMGTPE]i?))?$/
const UNITS = new Map(
  ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'].flatMap((unit, index) => [
    [unit, 1000 ** (index - 3)],
    // `Ki`, but `k`.
    [`${unit.toUpperCase()}i`, 1024 ** (index - 3)],
  ]),
)

function isSameAmount(left: string, right: string): boolean {
  const [one, other] = [amountOf(left), amountOf(right)]
  if (one === undefined || other === undefined) return false
  return Math.abs(one - other) <= Math.max(one, other) * 1e-12
}

/** A quantity of Kubernetes as a number; undefined for another text. */
function amountOf(text: string): number | undefined {
  const { number, exponent = 0, unit = '' } = QUANTITY.exec(text)?.groups ?? {}
  const factor = UNITS.get(unit)
  return number === undefined || factor === undefined ? undefined : Number(number) * 10 ** Number(exponent) * factor
}
