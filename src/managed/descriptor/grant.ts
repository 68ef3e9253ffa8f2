import { type Static, Type } from 'typebox'
import { list, object } from '../../schema/define.ts'
import { exactlyOne } from '../../schema/rules.ts'
import { labelsSelector } from './label-selector.ts'
import { namespaceName } from './text-schemas.ts'

/** Together these keep the largest valid spec storable: an IPPolicy has little room beside its rules. */
const ENTRIES = 16
const NAMESPACES = 8
const SELECTOR = { labels: 4, bytes: 384 }

const grant = object(
  {
    namespaces: Type.Optional(
      list(namespaceName('Name of a namespace.'), {
        description: `The namespaces by name, at most ${NAMESPACES}.`,
        minItems: 1,
        maxItems: NAMESPACES,
        listType: 'set',
      }),
    ),
    namespaceSelector: Type.Optional(
      labelsSelector(
        'The namespaces by label; an empty selector `{}` selects every namespace. If Culvert watches only some namespaces (`--watch-namespace`), it does not read their labels, and a selector selects none.',
        SELECTOR,
      ),
    ),
  },
  {
    description: 'Namespaces, by exactly one of namespaces and namespaceSelector.',
    rules: [exactlyOne(['namespaces', 'namespaceSelector'])],
  },
)

/** `allowedReferences` of a kind that others refer to. */
export const sharing = {
  allowedReferences: Type.Optional(
    list(grant, {
      description: `Other namespaces whose resources may refer to this one by namespace and name, if they are in the same account; at most ${ENTRIES} entries, one of which must match. Withdrawing an entry refuses new references; a reference in use is kept until the spec that contains it changes, which the condition ReferencesGranted reports on both sides. Default: none.`,
      maxItems: ENTRIES,
    }),
  ),
}

/** An entry of `allowedReferences`. */
export type ReferenceGrant = Static<typeof grant>
