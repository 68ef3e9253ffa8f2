/**
 * A line of `known_hosts` that makes clients trust host certificates of an authority (sshd(8), "SSH_KNOWN_HOSTS FILE
 * FORMAT").
 *
 * @param hosts names and addresses; none means all.
 * @param publicKey of the authority, in authorized-keys format.
 */
export function knownHostsLine(hosts: readonly string[], publicKey: string): string {
  return `@cert-authority ${hosts.length === 0 ? '*' : hosts.join(',')} ${publicKey.trim()}\n`
}
