import { describe, expect, test } from 'vitest'
import { collections } from '../../../../src/api/collections.ts'
import type { Collection, RemoteObject } from '../../../../src/api/types.ts'
import { formatMarker } from '../../../../src/managed/markers/marker.ts'
import {
  bearerKey,
  childKey,
  namesakeKey,
  objectKeys,
  referrerKey,
  uniqueNameKey,
  unmarkedKey,
  valueKey,
  valueUserKey,
} from '../../../../src/managed/markers/object-keys.ts'
import { registry } from '../../../builders/watched-store.ts'

const web = { kind: 'Backend', namespace: 'shop', name: 'web' }
const marker = formatMarker({ ...web, installation: 'one', uid: 'uid-1', nonce: 'a1' })

const cases: readonly (readonly [string, Collection, Omit<RemoteObject, 'id'>, readonly string[]])[] = [
  [
    'by the resource that its marker names',
    collections.tunnelGroupBackends,
    { metadata: marker },
    [bearerKey('uid-1'), namesakeKey(web)],
  ],
  ['by the marker in the name of a bot', collections.botUsers, { name: marker }, [bearerKey('uid-1')]],
  [
    'by the text instead of a marker',
    collections.tunnelGroupBackends,
    { metadata: 'by hand' },
    [unmarkedKey('by hand')],
  ],
  ['by its parent', collections.ipPolicyRules, { ip_policy: { id: 'ipp_1' } }, [childKey('ipp_1')]],
  [
    'by the ids that it refers to',
    collections.tcpEdges,
    {
      backend: { backend: { id: 'bkd_1' } },
      ip_restriction: { ip_policies: [{ id: 'ipp_1' }, { id: 'ipp_2' }] },
    },
    [referrerKey('Backend', 'bkd_1'), referrerKey('IPPolicy', 'ipp_1'), referrerKey('IPPolicy', 'ipp_2')],
  ],
  [
    'by the value that others refer to',
    collections.reservedDomains,
    { domain: 'Shop.example.com' },
    [valueKey('ReservedDomain', 'shop.example.com'), uniqueNameKey('ReservedDomain', 'shop.example.com')],
  ],
  [
    'by the values that it refers to',
    collections.tlsEdges,
    { hostports: ['shop.example.com:443'] },
    [valueUserKey('ReservedDomain', 'shop.example.com'), uniqueNameKey('Edge', 'shop.example.com:443')],
  ],
]

describe('an object is found', () => {
  test.each(cases)('%s', (_, collection, fields, keys) => {
    expect(objectKeys(registry)(collection)({ id: 'any', ...fields })).toEqual(expect.arrayContaining([...keys]))
  })
})
