import { Type } from 'typebox'
import type { OneTimeOutput } from '../managed/types/descriptor.ts'
import { text } from '../schema/define.ts'

const KEY = 'token'

/** Where the token goes that the API tells only in the answer to the create. */
export const tokenFields = {
  secretName: Type.Optional(
    text({
      description:
        'Name of the Secret that the token is put into. Culvert makes it, owns it, and deletes it with this resource; one that exists already is refused. Default: the name of this resource.',
      minLength: 1,
      maxLength: 253,
      pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
    }),
  ),
  secretKey: Type.Optional(
    text({
      description: 'Key in the Secret. Default: token.',
      minLength: 1,
      maxLength: 253,
      pattern: '^[-._a-zA-Z0-9]+$',
      default: KEY,
    }),
  ),
}

interface WithToken {
  readonly secretName?: string
  readonly secretKey?: string
}

export const tokenOutput: OneTimeOutput<WithToken> = {
  type: 'one-time',
  field: 'token',
  target: ({ secretName, secretKey = KEY }, name) => ({ name: secretName ?? name, key: secretKey }),
}
