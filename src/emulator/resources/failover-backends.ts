import { DESCRIBED_WITHOUT_LIMITS, SHOWN_TEXTS } from '../fields/common.ts'
import { optional } from '../fields/field.ts'
import { TEXTS } from '../fields/json-schema.ts'
import { ids, refuseEmpty } from '../fields/references.ts'
import { textOf } from '../json.ts'
import { checkChildren, childrenOf } from './backend-children.ts'
import type { Resource } from './resource.ts'

/** Backends that send traffic to the first child that can take it. */
export const failoverBackends: Resource = {
  path: 'backends/failover',
  listKey: 'backends',
  idPrefix: 'bkdfo',
  eventName: 'failover_backend',
  served: true,
  fields: { ...DESCRIBED_WITHOUT_LIMITS, backends: optional(ids, []) },
  refuse: (body, choices) => {
    if (choices['empty-members'] === 'refused') refuseEmpty(body, ['backends'])
  },
  prepare: ({ given, next }, context) => {
    if (given.backends !== undefined) checkChildren(next, context)
  },
  links: (backend) => childrenOf(backend.backends).map((target) => ({ target, onDelete: 'restrict' })),
  shows: { ...SHOWN_TEXTS, backends: TEXTS },
  render: (backend) => ({
    description: textOf(backend, 'description'),
    metadata: textOf(backend, 'metadata'),
    backends: backend.backends ?? [],
  }),
}
