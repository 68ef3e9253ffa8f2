import { type Static, Type } from 'typebox'
import { list, object } from '../../schema/define.ts'
import { exactlyOne } from '../../schema/rules.ts'
import { labelsSelector } from './label-selector.ts'
import { namespaceName } from './text-schemas.ts'

/** Together these keep the largest valid spec storable: the rules of an IPPolicy leave little room. */
const ENTRIES = 16
const NAMESPACES = 8
const SELECTOR = { labels: 4, bytes: 384 }

const grant = object(
  {
    namespaces: Type.Optional(
      list(namespaceName('Name of a namespace.'), {
        description: `Names of the namespaces, at most ${NAMESPACES}.`,
        minItems: 1,
        maxItems: NAMESPACES,
        listType: 'set',
      }),
    ),
    namespaceSelector: Type.Optional(
      labelsSelector(
        'Selects namespaces by label; an empty selector `{}` selects all. If Culvert watches only some namespaces (`--watch-namespace`), it does not read their labels, and a selector selects none.',
        SELECTOR,
      ),
    ),
  },
  {
    description: 'A set of namespaces. Exactly one of namespaces and namespaceSelector.',
    rules: [exactlyOne(['namespaces', 'namespaceSelector'])],
  },
)

/** `allowedReferences` of a kind that can be referred to. */
export const sharing = {
  allowedReferences: Type.Optional(
    list(grant, {
      description: `Other namespaces whose resources in the same account may refer to this resource by namespace and name; at most ${ENTRIES} entries, of which one must match. After an entry is removed, new references are refused; a reference in use is kept until the spec that contains it changes, which the condition ReferencesGranted reports on both sides. Default: none.`,
      maxItems: ENTRIES,
    }),
  ),
}

/** An entry of `allowedReferences`. */
export type ReferenceGrant = Static<typeof grant>
