/** A number with its noun: `1 error`, `2 errors`. For nouns whose plural ends in s. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
