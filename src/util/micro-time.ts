/** Wall time as Kubernetes' MicroTime: exactly six fractional digits, or the server rejects it. */
export function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z')
}
