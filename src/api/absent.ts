/** Whether an answer with this status means that the object is absent. The contract does not say which status does. */
export function saysAbsent(status: number): boolean {
  return status === 404 || status === 410
}
