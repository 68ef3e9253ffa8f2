/** What the labels of a Backend bind as text, `app=shop,version=1`; a message if they cannot be written so. */
export function bindText(
  labels: Readonly<Record<string, string>>,
): { readonly text: string } | { readonly problem: string } {
  const entries = Object.entries(labels).sort(([left], [right]) => (left < right ? -1 : 1))
  if (entries.length === 0)
    return { problem: 'has no labels: add at least one, by which the Backend selects the tunnel' }
  const unfit = entries.find(
    ([label, value]) => /[=,]/.test(label) || value.includes(',') || /[^!-~]/.test(label + value),
  )
  if (unfit !== undefined) {
    return {
      problem: `has the label ${JSON.stringify(unfit[0])}, which SSH cannot bind: no comma, space or = in labels`,
    }
  }
  return { text: entries.map(([label, value]) => `${label}=${value}`).join(',') }
}
