/** Why a user's own metadata is refused; undefined when it is fine. `path` names the field. */
export function metadataProblem(path: string, metadata: string | undefined): string | undefined {
  if (metadata === undefined || parseObject(metadata)?.culvert === undefined) return undefined
  return `${path}: a JSON object with a top-level \`culvert\` key marks Culvert's own objects: rename the key`
}

/** The object that `text` is as JSON; undefined for any other text. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    // Free text is what metadata usually is.
    return undefined
  }
}
