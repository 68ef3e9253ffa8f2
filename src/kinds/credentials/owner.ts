import { Type } from 'typebox'
import type { RemoteObject } from '../../api/types.ts'
import { objectID, objectName, type Ref, referenceNamespace } from '../../managed/descriptor/common.ts'
import type { Desired } from '../../managed/descriptor/desired.ts'
import { markedKind } from '../../managed/descriptor/metadata.ts'
import type { FoundReference, ReferenceKind } from '../../managed/descriptor/references.ts'
import { object, text } from '../../schema/define.ts'
import { exactlyOne, fixedField } from '../../schema/rules.ts'
import { textOf, wholeText } from '../building-blocks/remote.ts'

const KIND = 'BotUser'

/** The owner of an API key or a credential (`management-api.md § Conventions`, `owner_id`). */
export const ownerSpec = {
  owner: Type.Optional(
    object(
      {
        botUserRef: Type.Optional(
          object(
            { name: objectName('Name of a BotUser.'), namespace: referenceNamespace('BotUser') },
            { description: 'A BotUser.' },
          ),
        ),
        id: Type.Optional(objectID('Id at the API of a user, or of a bot that no BotUser manages.')),
      },
      {
        description:
          "The user or bot that owns it: exactly one of botUserRef and id. Only an account whose API key belongs to an administrator can name another owner than the key's own. Immutable. Default: the owner of the account's API key.",
        rules: [exactlyOne(['botUserRef', 'id'])],
      },
    ),
  ),
}

export const ownerRule = fixedField('owner')

export const ownerStatus = {
  ownerID: Type.Optional(text({ description: 'Id of the user or bot that owns it.', maxLength: 255 })),
}

interface Owned {
  readonly owner?: {
    readonly botUserRef?: { readonly name: string; readonly namespace?: string }
    readonly id?: string
  }
}

/** How objects refer to their owners. */
export const ownerKind: ReferenceKind = {
  kind: KIND,
  idsIn: (remote) => [ownerOf(remote)].filter((id) => id !== undefined),
}

export function ownerReferences({ owner }: Owned): readonly FoundReference[] {
  if (owner === undefined) return []
  const path = owner.botUserRef === undefined ? 'spec.owner' : 'spec.owner.botUserRef'
  return [{ path, kind: KIND, ref: refTo(owner) }]
}

/** The `owner_id` to send; undefined leaves it to the API. */
export function sentOwner({ spec: { owner }, id }: Pick<Desired<Owned>, 'spec' | 'id'>): string | undefined {
  return owner === undefined ? undefined : id(KIND, refTo(owner))
}

/** CEL ensures that exactly one of the two is set. */
function refTo({ botUserRef, id }: NonNullable<Owned['owner']>): Ref {
  return botUserRef ?? { ...(id === undefined ? {} : { id }) }
}

/**
 * The owner of an object as a spec has it; undefined where the API does not show it. Of an object that Culvert made, an
 * owner that is no bot is most likely the default, and the field could not be added to the spec of its resource.
 */
export function writtenOwner(remote: RemoteObject, ref: (kind: string, id: string) => Ref): Owned['owner'] {
  const id = ownerOf(remote)
  if (id === undefined) return undefined
  const { name } = ref(KIND, id)
  if (name !== undefined) return { botUserRef: { name } }
  return markedKind(textOf(remote.metadata) ?? '') === undefined ? { id } : undefined
}

/** Id of the owner that an object has. */
export function ownerOf({ owner_id }: RemoteObject): string | undefined {
  return wholeText(owner_id, 255)
}
