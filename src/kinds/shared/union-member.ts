/** The member that a discriminator chooses is missing: an object that this CRD refuses was stored under another CRD. */
class MissingMemberError extends Error {
  override readonly name = 'MissingMemberError'
  readonly code = 'MISSING_MEMBER'

  constructor(path: string) {
    super(`${path} is required: set it, or choose another type`)
  }
}

/**
 * The member of a union that its discriminator chooses, which the CRD requires.
 *
 * @param path path of the member, such as `spec.firehose`
 * @throws MissingMemberError
 */
export function chosen<Member>(member: Member | undefined, path: string): Member {
  if (member === undefined) throw new MissingMemberError(path)
  return member
}
