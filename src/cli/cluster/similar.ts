/** The most similar of the known words, with at most a third of its letters mistyped; undefined if none is. */
export function mostSimilar(typed: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const word of known) {
    const distance = editDistance(typed.toLowerCase(), word.toLowerCase())
    const isNear = distance <= Math.max(1, Math.floor(Math.max(typed.length, word.length) / 3))
    if (isNear && distance < least) [best, least] = [word, distance]
  }
  return best
}

/** Characters to insert, delete, replace or swap with their neighbour, at least, to get from one word to the other. */
function editDistance(left: string, right: string): number {
  let twoAbove: readonly number[] = []
  let above: readonly number[] = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const at = (line: readonly number[], index: number): number => line[index] ?? Number.POSITIVE_INFINITY
      const same = left[row - 1] === right[column - 1] ? 0 : 1
      const isSwapped = row > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      current.push(
        Math.min(
          at(above, column) + 1,
          at(current, column - 1) + 1,
          at(above, column - 1) + same,
          isSwapped ? at(twoAbove, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    twoAbove = above
    above = current
  }
  return above[right.length] ?? 0
}
