/** Sum of a metric in the text format, over all label sets that contain `labels` (`kind="Edge"`). */
export function sumOfMetric(text: string, name: string, labels: readonly string[]): number {
  return samplesOf(text, name, labels).reduce((sum, value) => sum + value, 0)
}

/** The values of a metric in the text format, one for each label set that contains `labels`. */
export function samplesOf(text: string, name: string, labels: readonly string[]): readonly number[] {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
  return lines
    .filter((line) => labels.every((label) => line.includes(label)))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)))
}
