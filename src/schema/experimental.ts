const mark = '(experimental)'

/** The description of what may still change or go (docs/versioning.md): it says so at its end. */
export function experimental(description: string): string {
  return `${description} ${mark}`
}

/** Whether a description says so. */
export function isExperimental(description: string | undefined): boolean {
  return description?.endsWith(mark) ?? false
}
