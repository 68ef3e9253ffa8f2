/**
 * Mutants that no simulation can see, by title, and why. Whoever adds one has looked for a way to see it.
 */
export const explained: Readonly<Record<string, string>> = {}
