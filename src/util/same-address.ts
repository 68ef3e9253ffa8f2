/** Whether two base URLs lead to the same API, as far as their text shows. */
export function isSameAddress(left: string, right: string): boolean {
  return normal(left) === normal(right)
}

function normal(address: string): string {
  return (URL.canParse(address) ? new URL(address).href : address).replace(/\/+$/, '')
}
