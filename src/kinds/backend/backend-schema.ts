import { Type } from 'typebox'
import {
  commonSpec,
  commonSpecRules,
  commonStatus,
  reference,
  referenceFields,
  referenceRules,
} from '../../managed/descriptor/common.ts'
import { sharing } from '../../managed/descriptor/grant.ts'
import { bytesText, choice, integer, list, object, stringMap, text } from '../../schema/define.ts'
import { defineKind, type SpecOf } from '../../schema/definition.ts'
import { celName, fixedField, keysLimit, type Rule, unionOf } from '../../schema/rules.ts'
import { managedColumns, textColumn } from '../building-blocks/columns.ts'
import { managedKind } from '../building-blocks/plain-kind.ts'
import { backendStatus, tunnelsOnline } from './backend-status.ts'

/** Children of one backend. The contract states no limit; this one keeps the rules about them affordable. */
const CHILDREN = 64
/** Limits for a response, in bytes. The contract states none; with these, a Backend can be stored and sent. */
const BODY = 262_144
const HEADER = 4096

const tunnelGroup = object(
  {
    labels: Type.Optional(
      stringMap(text({ description: 'Value of the label. At most 1024 characters.', maxLength: 1024 }), {
        description:
          'Labels that a tunnel must have to belong to the group, at most 64, with names of at most 255 characters. Default: none.',
        maxProperties: 64,
        rules: [keysLimit(255, 'labels')],
      }),
    ),
  },
  // Atomic, because server-side apply cannot empty a granular object: it would set it to null.
  { description: 'Sends traffic to online tunnels with the given labels.', atomic: true },
)

const httpResponse = object(
  {
    body: Type.Optional(
      bytesText('body', BODY, { description: `Content of the response. At most ${BODY} bytes. Default: empty.` }),
    ),
    headers: Type.Optional(
      stringMap(
        bytesText('headers', HEADER, {
          description: `Value of the header, on one line. At most ${HEADER} bytes.`,
          mustBe: 'one line: remove line breaks',
          pattern: '^[^\\r\\n]*$',
        }),
        {
          description:
            'Headers of the response, at most 64, with names of at most 255 characters; the case of the names does not matter. Default: none.',
          maxProperties: 64,
          rules: [keysLimit(255, 'headers')],
        },
      ),
    ),
    statusCode: Type.Optional(
      integer({
        description:
          'HTTP status code of the response, 200 to 999. The API accepts any int32, but codes below 200 are not final, and HTTP has no four-digit codes. Default: 200.',
        minimum: 200,
        maximum: 999,
      }),
    ),
  },
  { description: 'Answers every request with fixed content.', atomic: true },
)

/** CEL: whether two entries have the same text in an optional field, which is never empty. */
const sameText = (field: string): string =>
  `(has(a.${celName(field)}) ? a.${celName(field)} : '') == (has(b.${celName(field)}) ? b.${celName(field)} : '')`

const weightedChild = object(
  {
    ...referenceFields('Backend'),
    weight: integer({
      description: 'Weight relative to the other backends, 0 to 10000; a backend with weight 0 receives no traffic.',
      minimum: 0,
      maximum: 10_000,
    }),
  },
  { description: 'A Backend and its weight. Exactly one of name and id.', rules: referenceRules },
)

const weighted = object(
  {
    backendRefs: list(weightedChild, {
      description: `The backends that share the traffic, without duplicates, at most ${CHILDREN}.`,
      maxItems: CHILDREN,
      rules: [
        {
          rule: `self.all(a, self.exists_one(b, ${sameText('name')} && ${sameText('namespace')} && ${sameText('id')}))`,
          message: 'backendRefs contains a backend twice: merge them into one entry with the sum of the weights',
        },
      ],
    }),
  },
  { description: 'Splits traffic between backends by weight.' },
)

const failover = object(
  {
    backendRefs: list(reference('Backend'), {
      description: `The backends in the order in which they are tried, without duplicates, at most ${CHILDREN}.`,
      maxItems: CHILDREN,
      rules: [
        {
          rule: 'self.all(a, self.exists_one(b, b == a))',
          message: 'backendRefs contains a backend twice: keep the first entry',
        },
      ],
    }),
  },
  { description: 'Sends traffic to the first available backend.' },
)

const rules: readonly Rule[] = [
  ...commonSpecRules,
  fixedField('type'),
  unionOf('type', {
    TunnelGroup: 'tunnelGroup',
    HTTPResponse: 'httpResponse',
    Weighted: 'weighted',
    Failover: 'failover',
  }),
]

export const backendDefinition = defineKind({
  ...managedKind,
  kind: 'Backend',
  plural: 'backends',
  singular: 'backend',
  pluralSharedWith: 'Envoy Gateway',
  shortNames: ['bkd'],
  scope: 'Namespaced',
  description:
    'Destination of the traffic of an Edge: tunnels selected by labels, a fixed response, or other backends by weight or in order.',
  spec: object(
    {
      ...commonSpec('unstated'),
      ...sharing,
      type: choice(['TunnelGroup', 'HTTPResponse', 'Weighted', 'Failover'], {
        description: 'Type of the backend; its settings are in the field of the same name. Immutable.',
      }),
      tunnelGroup: Type.Optional(tunnelGroup),
      httpResponse: Type.Optional(httpResponse),
      weighted: Type.Optional(weighted),
      failover: Type.Optional(failover),
    },
    { description: 'Desired state of the backend.', rules },
  ),
  status: object({ ...commonStatus, ...backendStatus }, { description: 'Observed state of the backend.' }),
  printerColumns: managedColumns(textColumn('Type', '.spec.type', 'Type of the backend.'), {
    name: 'Tunnels',
    type: 'integer',
    jsonPath: '.status.tunnelCount',
    description: 'Number of tunnels of a TunnelGroup that were online when the API was last read.',
  }),
  conditions: [...managedKind.conditions, tunnelsOnline],
})

export type BackendSpec = SpecOf<typeof backendDefinition>
