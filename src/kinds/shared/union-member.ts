/** The member that a discriminator chooses is not there: what the CRD refuses was stored under another CRD. */
class MissingMemberError extends Error {
  override readonly name = 'MissingMemberError'
  readonly code = 'MISSING_MEMBER'

  constructor(path: string) {
    super(`${path} is missing: set it, or choose another type`)
  }
}

/**
 * The member of a union that its discriminator chooses. The CRD sees to it that it is there.
 *
 * @param path where it belongs, as `spec.firehose`
 * @throws MissingMemberError
 */
export function chosen<Member>(member: Member | undefined, path: string): Member {
  if (member === undefined) throw new MissingMemberError(path)
  return member
}
