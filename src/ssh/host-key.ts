const TYPES = 'ssh-ed25519|ecdsa-sha2-nistp(?:256|384|521)|ssh-rsa'
const BLOB = '[A-Za-z0-9+/]{16,}={0,2}'

/**
 * A host key as `.pub` files have it, or as `ssh-keyscan` and `known_hosts` do, with the host before it; a comment may
 * follow. A marker such as `@revoked` may not precede it.
 */
export const HOST_KEY_PATTERN = `^([!-"$-?A-~][!-~]* )?(${TYPES}) ${BLOB}( [ -~]*)?$`.replaceAll('(?:', '(')

const LINE = new RegExp(`^(?:[^@#\\s]\\S* )?((?:${TYPES}) ${BLOB})(?:\\s.*)?$`)

/** The key of such a line alone, `<type> <base64>`; undefined if it has none. */
export function hostKeyOf(line: string): string | undefined {
  return LINE.exec(line.trim())?.[1]
}
