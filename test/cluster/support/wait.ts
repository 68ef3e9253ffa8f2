/**
 * Polls `look` until it returns something other than undefined or false. @throws with the text of `describe` if it does
 * not in time
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  options: { readonly timeoutMs?: number; readonly describe?: () => unknown } = {},
): Promise<T> {
  const began = performance.now()
  const deadline = began + (options.timeoutMs ?? 30_000)
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > deadline) {
      const state = await options.describe?.()
      throw new Error(
        `waited in vain until ${what}${state === undefined ? '' : `:\n${JSON.stringify(state, null, 2)}`}`,
      )
    }
    // A long wait is polled less often: polling costs time that others wait for.
    const pause = Math.min(200, 25 + (performance.now() - began) / 20)
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
