/** Whether a socket's remote address is this machine's loopback interface, IPv4-mapped forms included. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false
  return address === '::1' || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address)
}
