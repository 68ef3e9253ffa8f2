import { DESCRIBED, SHOWN_TEXTS } from '../fields/common.ts'
import { nullable, TEXT } from '../fields/json-schema.ts'
import { textOf } from '../json.ts'
import { issueToken } from './issued-token.ts'
import { chooseOwner, OWNED, ownerLink } from './owner.ts'
import type { Resource } from './resource.ts'

/**
 * API keys. The token appears in the answer to the create and never again (`management-api.md § Access credentials`).
 */
export const apiKeys: Resource = {
  path: 'api_keys',
  listKey: 'keys',
  idPrefix: 'ak',
  eventName: 'api_key',
  served: true,
  fields: { ...DESCRIBED, ...OWNED },
  prepare: chooseOwner,
  links: ownerLink,
  reveal: issueToken,
  shows: { ...SHOWN_TEXTS, token: nullable(TEXT), owner_id: TEXT },
  render: (key) => ({
    description: textOf(key, 'description'),
    metadata: textOf(key, 'metadata'),
    token: null,
    owner_id: textOf(key, 'owner_id'),
  }),
}
