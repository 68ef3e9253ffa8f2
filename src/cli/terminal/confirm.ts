import { createInterface } from 'node:readline/promises'
import { escaped } from '../../util/printable.ts'

/**
 * Asks the person at the terminal. Anything but `y` or `yes` is a no, and so is the end of the input.
 *
 * @returns undefined if no one can be asked, since the input is no terminal
 */
export async function confirm(question: string): Promise<boolean | undefined> {
  if (!process.stdin.isTTY) return undefined
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question(`${escaped(question)} [y/N] `)).trim())
  } catch {
    // Ctrl-D closes the input.
    return false
  } finally {
    lines.close()
  }
}
