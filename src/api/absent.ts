/** Whether an answer with this status is that the object is not there. Which status says so the contract does not state. */
export function saysAbsent(status: number): boolean {
  return status === 404 || status === 410
}
