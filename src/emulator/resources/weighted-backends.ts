import { DESCRIBED_WITHOUT_LIMITS, SHOWN_TEXTS } from '../fields/common.ts'
import { optional } from '../fields/field.ts'
import { integer, mapOf } from '../fields/readers.ts'
import { refuseEmpty } from '../fields/references.ts'
import { textOf } from '../json.ts'
import { checkChildren, childrenOf } from './backend-children.ts'
import type { Resource } from './resource.ts'

/** Backends that split traffic by weight, 0 to 10000 each (`management-api.md § Limits`). */
export const weightedBackends: Resource = {
  path: 'backends/weighted',
  listKey: 'backends',
  idPrefix: 'bkdwd',
  eventName: 'weighted_backend',
  served: true,
  fields: { ...DESCRIBED_WITHOUT_LIMITS, backends: optional(mapOf(integer(0, 10_000)), {}) },
  refuse: (body, choices) => {
    if (choices['empty-members'] === 'refused') refuseEmpty(body, ['backends'])
  },
  prepare: ({ given, next }, context) => {
    if (given.backends !== undefined) checkChildren(next, context)
  },
  links: (backend) => childrenOf(backend.backends).map((target) => ({ target, onDelete: 'restrict' })),
  shows: { ...SHOWN_TEXTS, backends: mapOf(integer(0, 10_000)).schema },
  render: (backend) => ({
    description: textOf(backend, 'description'),
    metadata: textOf(backend, 'metadata'),
    backends: backend.backends ?? {},
  }),
}
