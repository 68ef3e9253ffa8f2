const mark = '(experimental)'

/** A description marked at its end as experimental: the feature may still change or be removed (docs/versioning.md). */
export function experimental(description: string): string {
  return `${description} ${mark}`
}

/** Whether a description has that marker. */
export function isExperimental(description: string | undefined): boolean {
  return description?.endsWith(mark) ?? false
}
